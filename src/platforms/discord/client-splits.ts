/** Texts at least this long (UTF-16 units) are pieces of something that did not fit: a continuation may follow. */
export const clientSplitsAt = 1900;

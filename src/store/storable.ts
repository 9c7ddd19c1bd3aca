/** PostgreSQL cannot hold the character NUL and SQLite's functions stop at it, so it is stored as U+FFFD, on both alike. */
export const storable = (parameter: unknown): unknown =>
  typeof parameter === 'string' && parameter.includes('\0') ? parameter.replaceAll('\0', '\uFFFD') : parameter;

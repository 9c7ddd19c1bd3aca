/** A title as it may stand in a list: short, and without what could hide or reorder text. */
export const cleanTitle = (title: string): string => title.replaceAll(/[\p{Cc}\p{Cf}]/gu, '').trim().slice(0, 100).toWellFormed();

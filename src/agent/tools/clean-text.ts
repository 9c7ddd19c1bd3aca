import { printable } from '../../lib/printable.ts';

/** Characters that a person does not see and a model reads: Unicode tags, and marks without width that are no part of any script. */
const invisible = /[\u{e0000}-\u{e007f}\u200b\u2060-\u2064\ufeff]/gu;

/** Text that others wrote, without what nobody can see in it. */
export const cleanText = (text: string): string => printable(text).replace(invisible, '').toWellFormed();

/** The same, cut to a length. */
export const boundedText = (text: string, maxChars: number): string => {
  const clean = cleanText(text.slice(0, maxChars * 2)).trim();
  return clean.length <= maxChars ? clean : `${clean.slice(0, maxChars - 1).trimEnd()}…`.toWellFormed();
};

/** The same, on one line. */
export const boundedLine = (text: string, maxChars: number): string => boundedText(text.replaceAll(/\s+/g, ' '), maxChars);

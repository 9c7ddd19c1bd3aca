import { stripVTControlCharacters } from 'node:util';

/** Controls but for newline and tab, the C1 range, and marks that make a terminal or a reader see text in another order. */
const harmful = /[[\p{Cc}\u202a-\u202e\u2066-\u2069]--[\n\t]]/gv;

/** Text of others as it may be written to a terminal: whatever a terminal would obey is gone, and newlines are plain. */
export const printable = (text: string): string => stripVTControlCharacters(text).replace(/\r\n?|[\u2028\u2029]/g, '\n').replace(harmful, '');

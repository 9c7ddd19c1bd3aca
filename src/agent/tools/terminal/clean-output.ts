import { stripVTControlCharacters } from 'node:util';

const decoder = new TextDecoder('utf-8');
/** Strings for the terminal itself that the stripper of Node leaves half: device control, privacy, program commands. */
const terminalStrings = new RegExp(String.raw`\u{1b}[PX\^_][\s\S]*?(?:\u{1b}\\|\u{7}|$)`, 'gu');
const controls = /[[\p{Cc}\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]--[\n\t]]/gv;

/** A line that was written over again and again, as progress bars are, as it stood in the end. */
const lastOverwrite = (line: string): string => (line.includes('\r') ? (line.split('\r').findLast((part) => part !== '') ?? '') : line);

/** What a program wrote, as text that a reader sees: no colours, no movements, no controls. */
export const cleanText = (bytes: Buffer): string =>
  stripVTControlCharacters(decoder.decode(bytes).replace(terminalStrings, ''))
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map(lastOverwrite)
    .join('\n')
    .replace(controls, '')
    .toWellFormed();

export interface Shortened {
  readonly text: string;
  readonly cut: boolean;
}

/** Two parts of the beginning, three of the end. */
const headShare = 0.4;

/** Head and tail of a long text with a note between them; `missing` counts what was lost before. */
export const shorten = (head: string, tail: string, limits: { readonly maxChars: number; readonly missing: number }): Shortened => {
  const { maxChars, missing } = limits;
  const whole = head + tail;
  if (missing === 0 && whole.length <= maxChars) return { text: whole, cut: false };
  const start = (missing === 0 ? whole : head).slice(0, Math.floor(maxChars * headShare));
  const end = (missing === 0 ? whole : tail).slice(-Math.floor(maxChars * (1 - headShare)));
  const left = missing === 0 ? `${whole.length - start.length - end.length} characters` : `about ${missing + head.length + tail.length - start.length - end.length} characters`;
  return { text: `${start.toWellFormed()}\n\n[… ${left} of output left out …]\n\n${end.toWellFormed()}`, cut: true };
};

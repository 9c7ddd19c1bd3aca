import { parseMarkdown, printMarkdown } from 'hermes-gateway/platform';
import type { MarkdownStyle } from 'hermes-gateway/platform';

/** What clients show as bold and so on: https://modern.ircdocs.horse/formatting */
const marks = { bold: '\u0002', italic: '\u001D', strike: '\u001E', spoiler: '' } as const;
const code = '\u0011';

const asIs = (text: string): string => text;

const style: MarkdownStyle = {
  text: asIs,
  styled: (kind, inner) => `${marks[kind]}${inner}${marks[kind]}`,
  code: (source) => `${code}${source}${code}`,
  link: (label, url, bare) => (bare || label === url ? label : `${label} (${url})`),
  codeBlock: asIs,
  quote: (inner) => `> ${inner.replaceAll('\n', '\n> ')}`,
  heading: (inner) => `${marks.bold}${inner}${marks.bold}`,
  rule: '———',
};

/** A message with its prefix and the name of its target may have 512 bytes: `:<nick>!<user>@<host> PRIVMSG <target> :…\r\n`. */
export const maxLineBytes = 350;

/** Control characters of others would be taken for markup. */
const controls = /[\p{Cc}--\n]/gv;

export const formatIrc = (markdown: string, plain = false): string => {
  const source = markdown.toWellFormed().replaceAll(/\r\n?/g, '\n').replaceAll(controls, ' ');
  return plain ? source : printMarkdown(parseMarkdown(source), style) || source;
};

export const measureIrc = (markdown: string): number => Buffer.byteLength(formatIrc(markdown));

/** Cuts between characters, never inside one. */
const cutLine = (line: string): readonly string[] => {
  const pieces: string[] = [];
  let piece = '';
  for (const character of line) {
    if (Buffer.byteLength(piece + character) > maxLineBytes) {
      pieces.push(piece);
      piece = '';
    }
    piece += character;
  }
  return [...pieces, piece];
};

/** A message is a line; empty ones cannot be sent. */
export const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '').flatMap(cutLine);

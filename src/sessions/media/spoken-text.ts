import { splitMedia } from '../../delivery/media-directives.ts';
import { parseMarkdown } from '../../lib/markdown/parse.ts';
import { printMarkdown } from '../../lib/markdown/print.ts';
import type { MarkdownStyle } from '../../lib/markdown/print.ts';

/** Signs that are seen and not said: bullets, boxes, emoji with what joins them. */
const unsaid = /[•☐☑]|\p{RGI_Emoji}|\p{Extended_Pictographic}\uFE0F?/gv;

const hostOf = (url: string): string => URL.parse(url)?.hostname.replace(/^www\./, '') ?? '';

/** Code is to be read, not heard. */
const spokenStyle: MarkdownStyle = {
  text: (words) => words.replaceAll(unsaid, ''),
  styled: (_style, inner) => inner,
  code: (source) => source,
  link: (label, url, bare) => (bare ? hostOf(url) : label),
  codeBlock: () => '',
  quote: (inner) => inner,
  heading: (inner) => (/[.!?:…]$/.test(inner) ? inner : `${inner}.`),
  rule: '',
};

/** Ends with a sentence where one ends in the second half, otherwise with a word. */
const cut = (text: string, maxChars: number): string => {
  if (text.length <= maxChars) return text;
  const head = text.slice(0, maxChars);
  const sentence = [...head.matchAll(/[.!?…。！？]["”’)]?(?=\s)|\n/g)].at(-1);
  const end = sentence === undefined ? 0 : sentence.index + sentence[0].length;
  const word = head.lastIndexOf(' ');
  return head.slice(0, end > maxChars / 2 ? end : word > 0 ? word : maxChars).toWellFormed().trim();
};

/** An answer as one would say it: without markup, code, addresses and signs. Empty when nothing of it can be said. */
export const spokenText = (markdown: string, maxChars: number): string => {
  const printed = printMarkdown(parseMarkdown(splitMedia(markdown).text), spokenStyle);
  const lines = printed.split('\n').map((line) => line.replaceAll(/\s+/g, ' ').replaceAll(/ (?=[.,;:!?])/g, '').trim());
  return cut(lines.filter((line) => /[\p{L}\p{N}]/u.test(line)).join('\n'), maxChars);
};

import { parseMarkdown } from '../../lib/markdown/parse.ts';
import { printMarkdown } from '../../lib/markdown/print.ts';
import type { MarkdownStyle } from '../../lib/markdown/print.ts';
import type { TextStyle } from '../../lib/markdown/tree.ts';

/** What Discord turns into a name, a channel, an emoji or a time; the agent may write it, so it stays as it is. */
const reference = /<(?:@[!&]?\d+|#\d+|a?:\w+:\d+|t:-?\d+(?::[tTdDfFR])?|\/[\w -]+:\d+|id:\w+)>/g;

const escapeSigns = (words: string): string =>
  words
    .replace(/[\\*`~|]/g, '\\$&')
    // Between letters or digits an underscore is no markup.
    .replace(/(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\_')
    .replace(/\[(?=[^\]\n]*\]\()/g, '\\[')
    .replace(/<(?=[@#:/]|a?:|t:|id:|https?:)/g, '\\<')
    .replace(/^(\s*)(>|#{1,3}(?=\s)|-(?=#?\s)|\*(?=\s)|\+(?=\s))/gm, '$1\\$2');

/** Words as they are, except for references. */
const escapeText = (words: string): string => {
  const parts: string[] = [];
  let from = 0;
  for (const match of words.matchAll(reference)) {
    parts.push(escapeSigns(words.slice(from, match.index)), match[0]);
    from = match.index + match[0].length;
  }
  return [...parts, escapeSigns(words.slice(from))].join('');
};

const marks: Readonly<Record<TextStyle, string>> = { bold: '**', italic: '*', strike: '~~', spoiler: '||' };

const fence = '```';

/** Keeps a fence inside code from ending it. */
const withoutFence = (source: string): string => source.replaceAll(fence, '`\u200B``');

const inlineCode = (source: string): string => {
  if (!source.includes('`')) return `\`${source}\``;
  const inner = source.replaceAll('``', '`\u200B`');
  return `\`\`${inner.startsWith('`') ? ' ' : ''}${inner}${inner.endsWith('`') ? ' ' : ''}\`\``;
};

const linkable = /^https?:\/\/[^\s/?#]+\S*$/i;

const spelledOut = (label: string, url: string): string => {
  const address = escapeText(url.replace(/^(?:mailto|tel):/i, ''));
  return address === '' || address === label ? label : `${label} (${address})`;
};

/** An address with a `)` in it would end too early. */
const inBrackets = (url: string): string => url.replaceAll('(', '%28').replaceAll(')', '%29');

const discordMarkdown: MarkdownStyle = {
  text: escapeText,
  styled: (style, inner) => `${marks[style]}${inner}${marks[style]}`,
  code: inlineCode,
  link: (label, url, bare) => {
    if (bare) return linkable.test(url) ? url : label;
    return linkable.test(url) ? `[${label}](${inBrackets(url)})` : spelledOut(label, url);
  },
  codeBlock: (source, language) => `${fence}${language.replace(/[^\w+#.-]/g, '')}\n${withoutFence(source)}\n${fence}`,
  quote: (inner) => `> ${inner.replaceAll('\n', '\n> ')}`,
  heading: (inner, level) => `${'#'.repeat(Math.min(level, 3))} ${inner}`,
  rule: '———',
};

/** Text that shows what the Markdown means. */
export const formatDiscord = (markdown: string): string => {
  const source = markdown.toWellFormed();
  return printMarkdown(parseMarkdown(source), discordMarkdown) || escapeText(source);
};

/** Text that shows exactly these signs. */
export const plainDiscord = (words: string): string =>
  words
    .toWellFormed()
    .replace(/[\\*_`~|[\]<]/g, '\\$&')
    .replace(/^(\s*)(>|#|-|\+)/gm, '$1\\$2');

/** What Discord counts: code points of the text with its markup, as it is sent. Markup that is still open counts a little more. */
export const measureDiscord = (markdown: string): number => codePoints(formatDiscord(markdown));

const codePoints = (words: string): number => {
  let count = 0;
  for (const _each of words) count += 1;
  return count;
};

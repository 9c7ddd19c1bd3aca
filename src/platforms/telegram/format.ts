import { parseMarkdown } from '../../lib/markdown/parse.ts';
import { printMarkdown } from '../../lib/markdown/print.ts';
import type { MarkdownStyle } from '../../lib/markdown/print.ts';
import type { TextStyle } from '../../lib/markdown/tree.ts';

/** https://core.telegram.org/bots/api#markdownv2-style */
const escapeText = (words: string): string => words.replace(/[_*[\]()~`>#+\-=|{}.!\\]/g, '\\$&');
const escapeCode = (source: string): string => source.replace(/[`\\]/g, '\\$&');
const escapeUrl = (url: string): string => url.replace(/[)\\]/g, '\\$&');

const marks: Readonly<Record<TextStyle, string>> = { bold: '*', italic: '_', strike: '~', spoiler: '||' };

/** Other links are silently dropped by Telegram, so their address is shown. */
const linkable = /^(?:https?:\/\/[^\s/?#]+\.[^\s/?#]|tg:\/\/)\S*$/i;

/** A link as words: its label, and its address unless that is the label. */
const spelledOut = (label: string, url: string, text: (words: string) => string): string => {
  const address = text(url.replace(/^(?:mailto|tel):/i, ''));
  return address === '' || address === label ? label : `${label} ${text('(')}${address}${text(')')}`;
};

const rule = '———';

const markdownV2: MarkdownStyle = {
  text: escapeText,
  styled: (style, inner) => `${marks[style]}${inner}${marks[style]}`,
  code: (source) => `\`${escapeCode(source)}\``,
  link: (label, url, bare) => {
    if (bare) return label;
    return linkable.test(url) ? `[${label}](${escapeUrl(url)})` : spelledOut(label, url, escapeText);
  },
  codeBlock: (source, language) => `\`\`\`${language.replace(/[^\w+#.-]/g, '')}\n${escapeCode(source)}\`\`\``,
  quote: (inner) => `>${inner.replaceAll('\n', '\n>')}`,
  heading: (inner) => marks.bold + inner + marks.bold,
  rule,
};

const asIs = (text: string): string => text;

const shown: MarkdownStyle = {
  text: asIs,
  styled: (_style, inner) => inner,
  code: asIs,
  link: (label, url, bare) => (bare || linkable.test(url) ? label : spelledOut(label, url, asIs)),
  codeBlock: asIs,
  quote: asIs,
  heading: asIs,
  rule,
};

const print = (markdown: string, style: MarkdownStyle): string => {
  const source = markdown.toWellFormed();
  return printMarkdown(parseMarkdown(source), style) || style.text(source);
};

/** Text that Telegram accepts as MarkdownV2, whatever the Markdown is, and that shows the same words. */
export const formatMarkdownV2 = (markdown: string): string => print(markdown, markdownV2);

/** The words that `formatMarkdownV2` shows, without any markup. */
export const plainText = (markdown: string): string => print(markdown, shown);

/**
 * What Telegram counts: UTF-16 units of the text that is shown. More text never counts for less, except that markup counts
 * as long as it is open and no longer once it is closed; so measure whole words, links and emphasis.
 */
export const measureTelegram = (markdown: string): number => plainText(markdown).length;

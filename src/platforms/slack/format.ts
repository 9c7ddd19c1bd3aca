import { parseMarkdown } from '../../lib/markdown/parse.ts';
import { printMarkdown } from '../../lib/markdown/print.ts';
import type { MarkdownStyle } from '../../lib/markdown/print.ts';
import type { Block, Cell, Inline, TextStyle } from '../../lib/markdown/tree.ts';
import { textWidth } from '../../lib/text-width.ts';

/** https://docs.slack.dev/messaging/formatting-message-text#escaping */
export const escapeSlack = (words: string): string => words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** What Slack reads inside angle brackets and a model may write by itself: a person, a channel, a link. Never a call to everybody. */
const control = /<(?:@[UW][A-Z0-9]+|#C[A-Z0-9]+|(?:https?|mailto|tel):[^\s<>|]+)(?:\|[^<>|\n]*)?>|&(?:amp|lt|gt);/g;

/** Escapes words and leaves what is Slack's own in them. */
const escapeAround = (words: string): string => {
  let done = '';
  let at = 0;
  for (const { 0: found, index } of words.matchAll(control)) {
    done += escapeSlack(words.slice(at, index)) + found;
    at = index + found.length;
  }
  return done + escapeSlack(words.slice(at));
};

/** Signs that Slack would take for markup: it has no way to escape them, so a sign without width takes their effect. */
const looksStyled = /(?<![\p{L}\p{N}*_~`])([*_~`])(?=[^\s*_~`])(?=[^\n]*?[^\s]\1(?![\p{L}\p{N}*_~`]))/gu;
const joiner = '\u2060';

const literal = (words: string): string => escapeAround(words).replace(looksStyled, `$1${joiner}`);

const marks: Readonly<Record<Exclude<TextStyle, 'spoiler'>, string>> = { bold: '*', italic: '_', strike: '~' };

/** Slack's markup ends with the line. */
const eachLine = (inner: string, mark: string): string =>
  inner
    .split('\n')
    .map((line) => (line.trim() === '' ? line : line.replace(/^(\s*)(.*?)(\s*)$/s, `$1${mark}$2${mark}$3`)))
    .join('\n');

/** Bold stands outside where both cover the same words. */
const styled = (style: TextStyle, inner: string): string => {
  if (style === 'spoiler') return `||${inner}||`;
  const bold = style === 'italic' ? /^\*([^*\n]+)\*$/.exec(inner)?.[1] : undefined;
  return bold === undefined ? eachLine(inner, marks[style]) : `*_${bold}_*`;
};

const linkable = /^(?:https?|mailto|tel):\S+$/i;

const linkTo = (label: string, url: string): string => `<${escapeSlack(url).replaceAll('|', '%7C')}|${label.replaceAll(/[|\n]/g, ' ')}>`;

const rule = '———';

const mrkdwn: MarkdownStyle = {
  text: literal,
  styled,
  code: (source) => (source.includes('`') ? escapeSlack(source) : `\`${escapeSlack(source)}\``),
  link: (label, url, bare) => {
    if (bare) return linkable.test(url) ? `<${escapeSlack(url).replaceAll('|', '%7C')}>` : label;
    return linkable.test(url) ? linkTo(label, url) : `${label} (${literal(url)})`;
  },
  codeBlock: (source) => `\`\`\`\n${escapeSlack(source).replaceAll('```', `\`\`${joiner}\``)}\n\`\`\``,
  quote: (inner) => `> ${inner.replaceAll('\n', '\n> ')}`,
  heading: (inner) => eachLine(inner.replaceAll(/^\*|\*$/g, ''), '*'),
  rule,
};

const asIs = (words: string): string => words;

/** The words of a cell without any markup. */
const wordsOnly: MarkdownStyle = { text: asIs, styled: (_style, inner) => inner, code: asIs, link: (label) => label, codeBlock: asIs, quote: asIs, heading: asIs, rule };

const cellText = (cell: Cell): string => printMarkdown([{ type: 'paragraph', children: [...cell] as readonly Inline[], gap: 0 }], wordsOnly).replaceAll('\n', ' ');

const leastColumn = 3;

/** Slack has no tables in messages, but a fixed width in code. */
const drawTable = (header: readonly Cell[], rows: readonly (readonly Cell[])[]): string => {
  const lines = [header, ...rows].map((row) => row.map(cellText));
  const columns = Math.max(...lines.map((line) => line.length));
  const widths = Array.from({ length: columns }, (_, i) => Math.max(leastColumn, ...lines.map((line) => textWidth(line[i] ?? ''))));
  const draw = (line: readonly string[]): string => `| ${widths.map((width, i) => (line[i] ?? '') + ' '.repeat(width - textWidth(line[i] ?? ''))).join(' | ')} |`;
  const [first = [], ...others] = lines;
  return [draw(first), draw(widths.map((width) => '-'.repeat(width))), ...others.map(draw)].join('\n');
};

/** The same blocks with every table as code. */
const withoutTables = (blocks: readonly Block[]): readonly Block[] =>
  blocks.map((block): Block => {
    switch (block.type) {
      case 'table':
        return { type: 'code', language: '', text: drawTable(block.header, block.rows), gap: block.gap };
      case 'quote':
        return { ...block, blocks: withoutTables(block.blocks) };
      case 'list':
        return { ...block, items: block.items.map((item) => ({ ...item, blocks: withoutTables(item.blocks) })) };
      case 'paragraph':
      case 'heading':
      case 'code':
      case 'rule':
        return block;
      default:
        return block satisfies never;
    }
  });

/** A link that was written in Slack's way already, of which Markdown has seen the address only. */
const slackLink = /&lt;<([^<>|]+)>\|([^<>|\n]*?)&gt;/g;

/** Markdown as Slack's mrkdwn. Nothing in it can call a whole channel. */
export const formatMrkdwn = (markdown: string): string => {
  const source = markdown.toWellFormed();
  const formatted = printMarkdown(withoutTables(parseMarkdown(source)), mrkdwn) || literal(source);
  return formatted.replaceAll(slackLink, '<$1|$2>');
};

/** What Slack counts: UTF-16 units of the text as it is sent. */
export const measureSlack = (markdown: string): number => formatMrkdwn(markdown).length;

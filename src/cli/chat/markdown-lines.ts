import { parseMarkdown } from '../../lib/markdown/parse.ts';
import type { Block, Inline, ListItem } from '../../lib/markdown/tree.ts';
import { printable } from '../../lib/printable.ts';
import { textWidth } from '../../lib/text-width.ts';
import { line, plain, span } from './style.ts';
import type { Line, Span, Style } from './style.ts';
import { tableLines } from './table-lines.ts';
import { chopText, wrapSpans } from './wrap.ts';

export interface Look {
  readonly columns: number;
  /** Without colours, marks say what a heading is and what is code. */
  readonly colored: boolean;
}

const faint: Style = { dim: true };
const ruleLength = 40;

/** Markdown of anybody as lines that are at most `columns` wide. Nothing in it can control the terminal. */
export const markdownLines = (markdown: string, look: Look): readonly Line[] => blockLines(parseMarkdown(printable(markdown)), look);

/** The last lines only, for a text that grows: what stands above them costs nothing. */
export const markdownTail = (markdown: string, look: Look, rows: number): readonly Line[] => {
  const blocks = parseMarkdown(printable(markdown));
  let from = blocks.length;
  let tail: readonly Line[] = [];
  while (from > 0 && tail.length <= rows) {
    from -= 1;
    tail = blockLines(blocks.slice(from), look);
  }
  return tail.slice(-rows);
};

const blockLines = (blocks: readonly Block[], look: Look): readonly Line[] =>
  blocks.flatMap((block, i) => [...(i > 0 && block.gap > 0 ? [[]] : []), ...linesOf(block, look)]);

const linesOf = (block: Block, look: Look): readonly Line[] => {
  switch (block.type) {
    case 'paragraph':
      return wrapSpans(inlineSpans(block.children, look, plain), look.columns);
    case 'heading':
      return headingLines(block, look);
    case 'code':
      return codeLines(block.text, look);
    case 'quote':
      return prefixed(blockLines(block.blocks, narrower(look, 2)), span('▌ ', faint), span('▌ ', faint));
    case 'list':
      return block.items.flatMap((item, i) => [...(i > 0 && item.gap > 0 ? [[]] : []), ...itemLines(item, look)]);
    case 'table':
      return tableLines({ header: block.header.map((cell) => inlineSpans(cell, look, { bold: true })), rows: block.rows.map((row) => row.map((cell) => inlineSpans(cell, look, plain))) }, look.columns);
    case 'rule':
      return [line('─'.repeat(Math.min(ruleLength, look.columns)), faint)];
    default:
      return block satisfies never;
  }
};

const narrower = (look: Look, by: number): Look => ({ ...look, columns: Math.max(8, look.columns - by) });

const prefixed = (lines: readonly Line[], first: Span, rest: Span): readonly Line[] => lines.map((each, i) => [i === 0 ? first : rest, ...each]);

const headingLines = (block: Extract<Block, { type: 'heading' }>, look: Look): readonly Line[] => {
  const style: Style = block.level === 1 ? { bold: true, underline: true } : { bold: true };
  const marks = look.colored ? [] : [span(`${'#'.repeat(block.level)} `)];
  return wrapSpans([...marks, ...inlineSpans(block.children, look, style)], look.columns);
};

const codeLines = (source: string, look: Look): readonly Line[] =>
  source.split('\n').flatMap((text) => chopText(withoutTabs(text), look.columns - 2).map((part) => [span('│ ', faint), span(part, { color: 'cyan' })]));

const itemLines = (item: ListItem, look: Look): readonly Line[] => {
  const mark = `${markOf(item)} `;
  const width = textWidth(mark);
  const inner = blockLines(item.blocks, narrower(look, width));
  return prefixed(inner.length === 0 ? [[]] : inner, span(mark, { color: 'cyan' }), span(' '.repeat(width)));
};

const markOf = ({ marker, checked }: ListItem): string => {
  if (checked !== undefined) return checked ? '☑' : '☐';
  return marker === '-' || marker === '*' || marker === '+' ? '•' : marker;
};

const withoutTabs = (text: string): string => text.replaceAll('\t', '    ');

const inlineSpans = (inlines: readonly Inline[], look: Look, style: Style): Line => inlines.flatMap((inline) => spansOf(inline, look, style));

const spansOf = (inline: Inline, look: Look, style: Style): Line => {
  switch (inline.type) {
    case 'text':
      return [span(withoutTabs(inline.text), style)];
    case 'code':
      return [span(look.colored ? withoutTabs(inline.text) : `\`${withoutTabs(inline.text)}\``, { ...style, color: 'cyan' })];
    case 'bold':
      return inlineSpans(inline.children, look, { ...style, bold: true });
    case 'italic':
      return inlineSpans(inline.children, look, { ...style, italic: true });
    case 'strike':
      return inlineSpans(inline.children, look, { ...style, strike: true });
    case 'spoiler':
      return inlineSpans(inline.children, look, { ...style, dim: true });
    case 'link':
      return linkSpans(inlineSpans(inline.children, look, { ...style, underline: true }), inline.url, inline.bare);
    case 'image':
      return linkSpans([span(inline.alt === '' ? 'image' : inline.alt, { ...style, underline: true })], inline.url, false);
    default:
      return inline satisfies never;
  }
};

/** The address is always shown: a label may say anything. */
const linkSpans = (label: Line, url: string, bare: boolean): Line => (bare ? label : [...label, span(` (${url})`, faint)]);

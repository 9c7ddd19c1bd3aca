import type { Block, Cell, Inline, ListItem, TextStyle } from './tree.ts';

/** How a platform writes what the tree says. Arguments named `inner` or `label` are printed already and not empty. */
export interface MarkdownStyle {
  /** Words as they are: escapes whatever the platform would take for markup. */
  text(words: string): string;
  styled(style: TextStyle, inner: string): string;
  code(source: string): string;
  /** `bare` when the label is the address itself. */
  link(label: string, url: string, bare: boolean): string;
  codeBlock(source: string, language: string): string;
  quote(inner: string): string;
  /** `level` counts from 1. */
  heading(inner: string, level: number): string;
  readonly rule: string;
}

/** A stretch of output. Only `text` can be indented and quoted; the others have to begin their line. */
interface Part {
  readonly kind: 'text' | 'code' | 'quote';
  readonly text: string;
  /** Blank lines before it. */
  readonly gap: number;
}

interface Place {
  readonly style: MarkdownStyle;
  readonly indent: string;
  readonly quoted: boolean;
}

/** Prints a tree for chat platforms that know lines and not much more. Blank lines are kept, tables become a list of their rows. */
export const printMarkdown = (blocks: readonly Block[], style: MarkdownStyle): string => join(printBlocks(blocks, { style, indent: '', quoted: false }));

const join = (parts: readonly Part[]): string => parts.map(({ text, gap }, i) => (i === 0 ? '' : '\n'.repeat(gap + 1)) + text).join('');

const printBlocks = (blocks: readonly Block[], place: Place): readonly Part[] => blocks.flatMap((block) => printBlock(block, place).filter(({ text }) => text !== ''));

const printBlock = (block: Block, place: Place): readonly Part[] => {
  const { style } = place;
  const { gap } = block;
  const text = (inner: string): readonly Part[] => [{ kind: 'text', text: prefixLines(inner, place.indent), gap }];
  switch (block.type) {
    case 'paragraph':
      return text(printInlines(block.children, style));
    case 'heading': {
      const inner = printInlines(block.children, style, ['bold']);
      return text(inner === '' ? '' : style.heading(inner, block.level));
    }
    case 'code':
      return [{ kind: 'code', text: block.text === '' ? '' : style.codeBlock(block.text, block.language), gap }];
    case 'quote':
      return printQuote(printBlocks(block.blocks, { style, indent: '', quoted: true }), place, gap);
    case 'list':
      return block.items.flatMap((item, i) => printItem(item, place, i === 0 ? gap : item.gap));
    case 'table':
      return text(block.rows.length === 0 ? printHeader(block.header, style) : block.rows.map((row) => printRow(block.header, row, style)).join('\n\n'));
    case 'rule':
      return text(style.rule);
    default:
      return block satisfies never;
  }
};

const prefixLines = (text: string, prefix: string): string => (prefix === '' || text === '' ? text : prefix + text.replaceAll('\n', `\n${prefix}`));

/** A quote is interrupted by code, which no platform can quote, and a quote inside it is only marked. */
const printQuote = (parts: readonly Part[], { style, quoted, indent }: Place, gap: number): readonly Part[] => {
  const stretches: Part[][] = [];
  for (const part of parts) {
    const last = stretches.at(-1);
    if (last === undefined || part.kind === 'code' || last[0]?.kind === 'code') stretches.push([part]);
    else last.push(part);
  }
  return stretches.map((stretch, i): Part => {
    const outerGap = i === 0 ? gap : (stretch[0]?.gap ?? 0);
    const text = join(stretch);
    if (stretch[0]?.kind === 'code') return { kind: 'code', text, gap: outerGap };
    return quoted ? { kind: 'text', text: prefixLines(text, indent + style.text('> ')), gap: outerGap } : { kind: 'quote', text: style.quote(text), gap: outerGap };
  });
};

const indentStep = '  ';

const printItem = (item: ListItem, place: Place, gap: number): readonly Part[] => {
  const indent = place.indent + indentStep;
  const mark = place.indent + place.style.text(bulletOf(item));
  const [first, ...rest] = printBlocks(item.blocks, { ...place, indent });
  if (first?.kind === 'text') return [{ ...first, text: `${mark} ${first.text.slice(indent.length)}`, gap }, ...rest];
  return [{ kind: 'text', text: mark, gap }, ...(first === undefined ? [] : [first]), ...rest];
};

/** `+` stays, because a line that begins with one is more often a sum than a list. */
const bulletOf = ({ marker, checked }: ListItem): string => {
  if (checked !== undefined) return checked ? '☑' : '☐';
  return marker === '-' || marker === '*' ? '•' : marker;
};

const printHeader = (header: readonly Cell[], style: MarkdownStyle): string => {
  const inner = header.map((cell) => printInlines(cell, style, ['bold'])).join(style.text(' | '));
  return inner === '' ? '' : style.styled('bold', inner);
};

/** A row as a small paragraph, because a phone is too narrow for columns: the first cell is its title, the others are bullets. */
const printRow = (header: readonly Cell[], row: readonly Cell[], style: MarkdownStyle): string => {
  const named = (i: number, active: readonly TextStyle[]): string => {
    const [name, value] = [printInlines(header[i] ?? [], style, active), printInlines(row[i] ?? [], style, active)];
    return name === '' || value === '' ? name + value : `${name}${style.text(': ')}${value}`;
  };
  const title = named(0, ['bold']);
  const others = Array.from({ length: Math.max(header.length, row.length) - 1 }, (_, i) => named(i + 1, []));
  return [title === '' ? '' : style.styled('bold', title), ...others.map((other) => `${style.text('• ')}${other}`)].filter((line) => line !== '').join('\n');
};

const printInlines = (inlines: readonly Inline[], style: MarkdownStyle, active: readonly TextStyle[] = []): string => inlines.map((inline) => printInline(inline, style, active)).join('');

const printInline = (inline: Inline, style: MarkdownStyle, active: readonly TextStyle[]): string => {
  switch (inline.type) {
    case 'text':
      return style.text(inline.text);
    case 'code':
      return style.code(inline.text);
    case 'link':
      return style.link(printInlines(inline.children, style, active) || style.text(inline.url), inline.url, inline.bare);
    case 'image':
      return style.link(style.text(inline.alt || inline.url), inline.url, false);
    case 'bold':
    case 'italic':
    case 'strike':
    case 'spoiler': {
      if (active.includes(inline.type)) return printInlines(inline.children, style, active);
      const inner = printInlines(inline.children, style, [...active, inline.type]);
      return inner === '' ? '' : style.styled(inline.type, inner);
    }
    default:
      return inline satisfies never;
  }
};

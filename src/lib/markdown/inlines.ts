import { inlineRanges, unescapeMarkdown } from './ranges.ts';
import type { InlineRange } from './ranges.ts';
import type { Inline } from './tree.ts';

/** A node under construction: its children grow until its range ends. */
interface Open {
  readonly range: InlineRange;
  readonly children: Inline[];
  /** The style is already on, or a link stands in a link: only the markers go. */
  readonly transparent: boolean;
}

/** Reads the running text of one block. It never fails: what is not balanced stays text. */
export const parseInlines = (text: string): readonly Inline[] => {
  const root: Inline[] = [];
  const stack: Open[] = [];
  const active = new Set<InlineRange['type']>();
  let at = 0;
  const children = (): Inline[] => stack.at(-1)?.children ?? root;
  const takeText = (end: number): void => {
    if (end > at) append(children(), { type: 'text', text: unescapeMarkdown(text.slice(at, end)) });
  };
  const closeUntil = (position: number): void => {
    for (let open = stack.at(-1); open !== undefined && open.range.end <= position; open = stack.at(-1)) {
      takeText(open.range.innerEnd);
      at = open.range.end;
      stack.pop();
      if (open.transparent) continue;
      active.delete(open.range.type);
      append(children(), nodeOf(open));
    }
  };
  for (const range of inlineRanges(text)) {
    closeUntil(range.start);
    takeText(range.start);
    if (range.type === 'code') {
      append(children(), { type: 'code', text: codeText(text.slice(range.innerStart, range.innerEnd)) });
      at = range.end;
      continue;
    }
    const transparent = active.has(range.type);
    active.add(range.type);
    stack.push({ range, transparent, children: transparent ? children() : [] });
    at = range.innerStart;
  }
  closeUntil(text.length);
  takeText(text.length);
  return root;
};

const nodeOf = ({ range, children }: Open): Inline => {
  const { type, url = '', bare = false } = range;
  switch (type) {
    case 'link':
      return { type, url, bare, children: bare ? [{ type: 'text', text: url }] : children };
    case 'image':
      return { type, url, alt: inlineText(children) };
    case 'code':
      return { type, text: inlineText(children) };
    default:
      return { type, children };
  }
};

/** Line breaks are spaces, and one space on each side belongs to the backticks, so that code can begin with a backtick. */
const codeText = (source: string): string => {
  const line = source.replaceAll('\n', ' ');
  return /^ .* $/.test(line) && line.trim() !== '' ? line.slice(1, -1) : line;
};

/** Only the words. */
export const inlineText = (inlines: readonly Inline[]): string =>
  inlines.map((inline) => ('children' in inline ? inlineText(inline.children) : inline.type === 'image' ? inline.alt : inline.text)).join('');

const append = (siblings: Inline[], node: Inline): void => {
  const last = siblings.at(-1);
  if (node.type === 'text' && last?.type === 'text') siblings[siblings.length - 1] = { type: 'text', text: last.text + node.text };
  else if (isStyle(node) && last !== undefined && isStyle(last) && last.type === node.type) {
    const merged = [...last.children];
    for (const child of node.children) append(merged, child);
    siblings[siblings.length - 1] = { type: node.type, children: merged };
  } else siblings.push(node);
};

const isStyle = (node: Inline): node is Extract<Inline, { readonly children: readonly Inline[] }> & { readonly type: 'bold' | 'italic' | 'strike' | 'spoiler' } =>
  'children' in node && node.type !== 'link';

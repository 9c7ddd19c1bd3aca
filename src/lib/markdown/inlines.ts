import { inlineRanges, unescapeMarkdown } from './ranges.ts';
import type { InlineRange } from './ranges.ts';
import type { Inline, TextStyle } from './tree.ts';

type Draft =
  | { readonly type: 'text'; text: string }
  | { readonly type: TextStyle; readonly children: Draft[] }
  | { readonly type: 'link'; readonly url: string; readonly bare: boolean; readonly children: Draft[] }
  | Extract<Inline, { type: 'code' | 'image' }>;

/** A node under construction: its children grow until its range ends. */
interface Open {
  readonly type: Exclude<InlineRange['type'], 'code'>;
  readonly range: InlineRange;
  readonly children: Draft[];
  /** The style is already on, or a link stands in a link: only the markers go. */
  readonly transparent: boolean;
}

/** Reads the running text of one block. It never fails: what is not balanced stays text. */
export const parseInlines = (text: string): readonly Inline[] => {
  const root: Draft[] = [];
  const stack: Open[] = [];
  const active = new Set<Open['type']>();
  let at = 0;
  const siblings = (): Draft[] => stack.at(-1)?.children ?? root;
  const takeText = (end: number): void => {
    if (end > at) append(siblings(), { type: 'text', text: unescapeMarkdown(text.slice(at, end)) });
  };
  const closeUntil = (position: number): void => {
    for (let open = stack.at(-1); open !== undefined && open.range.end <= position; open = stack.at(-1)) {
      takeText(open.range.innerEnd);
      at = open.range.end;
      stack.pop();
      if (open.transparent) continue;
      active.delete(open.type);
      append(siblings(), nodeOf(open));
    }
  };
  for (const range of inlineRanges(text)) {
    closeUntil(range.start);
    takeText(range.start);
    const { type } = range;
    if (type === 'code') {
      append(siblings(), { type, text: codeText(text.slice(range.innerStart, range.innerEnd)) });
      at = range.end;
      continue;
    }
    const transparent = active.has(type);
    active.add(type);
    stack.push({ type, range, transparent, children: transparent ? siblings() : [] });
    at = range.innerStart;
  }
  closeUntil(text.length);
  takeText(text.length);
  return root;
};

const nodeOf = ({ type, range: { url = '', bare = false }, children }: Open): Draft => {
  if (type === 'image') return { type, url, alt: inlineText(children) };
  if (type === 'link') return { type, url, bare, children: bare ? [{ type: 'text', text: url }] : children };
  return { type, children };
};

/** Line breaks are spaces, and one space on each side belongs to the backticks, so that code can begin with a backtick. */
const codeText = (source: string): string => {
  const line = source.replaceAll('\n', ' ');
  return line.startsWith(' ') && line.endsWith(' ') && line.trim() !== '' ? line.slice(1, -1) : line;
};

/** Only the words. */
export const inlineText = (inlines: readonly Inline[]): string => {
  const words = (inline: Inline): string => ('children' in inline ? inlineText(inline.children) : inline.type === 'image' ? inline.alt : inline.text);
  return inlines.map(words).join('');
};

const append = (siblings: Draft[], node: Draft): void => {
  const last = siblings.at(-1);
  if (node.type === 'text' && last?.type === 'text') last.text += node.text;
  else if (last !== undefined && isStyle(last) && isStyle(node) && last.type === node.type) for (const child of node.children) append(last.children, child);
  else siblings.push(node);
};

const isStyle = (node: Draft): node is Extract<Draft, { type: TextStyle }> => 'children' in node && node.type !== 'link';

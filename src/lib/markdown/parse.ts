import { closesFence, openFence } from './fence.ts';
import type { Fence } from './fence.ts';
import { parseInlines } from './inlines.ts';
import type { Block, BlockContent, Cell, ListItem } from './tree.ts';

/** Quotes and lists inside one another; what is deeper is shown as text. It keeps the time linear. */
const deepest = 8;

const heading = /^ {0,3}(#{1,6})[ \t]+(\S.*)$/;
const rule = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const quoted = /^ {0,3}> ?/;
const itemStart = /^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(?=\S)/;
const task = /^\[([ xX])\][ \t]+(?=\S)/;
const tableRule = /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$/;

type Lines = readonly string[];

interface Read {
  readonly block: BlockContent;
  /** The first line that is not part of it. */
  readonly next: number;
}

/**
 * Reads the Markdown that models write, for showing it in a chat: line breaks and blank lines count as written, fences may be
 * indented, HTML is text, there is no indented code and no underlined heading. It never fails, and takes linear time.
 */
export const parseMarkdown = (source: string): readonly Block[] => parseBlocks(source.replace(/\r\n?/g, '\n').split('\n'), 0);

const parseBlocks = (lines: Lines, depth: number): readonly Block[] => {
  const blocks: Block[] = [];
  for (let at = 0; ; ) {
    const start = skipBlank(lines, at);
    if (start >= lines.length) return blocks;
    const { block, next } = readBlock(lines, start, depth);
    blocks.push({ ...block, gap: start - at });
    at = next;
  }
};

const isBlank = (line: string): boolean => line.trim() === '';

const skipBlank = (lines: Lines, at: number): number => {
  let next = at;
  for (let line = lines[next]; line !== undefined && isBlank(line); line = lines[next]) next += 1;
  return next;
};

const readBlock = (lines: Lines, at: number, depth: number): Read => {
  const line = lines[at] ?? '';
  const fence = openFence(line);
  if (fence !== undefined && at + 1 < lines.length) return readCode(lines, at, fence);
  const [, hashes = '', title = ''] = heading.exec(line) ?? [];
  if (hashes !== '') return { block: { type: 'heading', level: hashes.length, children: parseInlines(title.trimEnd().replace(/[ \t]#+$/, '')) }, next: at + 1 };
  if (rule.test(line)) return { block: { type: 'rule' }, next: at + 1 };
  if (depth < deepest && quoted.test(line)) return readQuote(lines, at, depth);
  if (depth < deepest && itemStart.test(line)) return readList(lines, at, depth);
  if (startsTable(lines, at)) return readTable(lines, at);
  return readParagraph(lines, at, depth);
};

/** A block without code shows what stands on its opening line, so that no words are lost. */
const readCode = (lines: Lines, at: number, fence: Fence): Read => {
  const code: string[] = [];
  let next = at + 1;
  for (let line = lines[next]; line !== undefined && !closesFence(fence, line); line = lines[next]) {
    code.push(dedent(line, width(fence.indent)));
    next += 1;
  }
  const text = code.join('\n');
  const block: BlockContent = text === '' ? { type: 'code', language: '', text: fence.info } : { type: 'code', language: /^\S*/.exec(fence.info)?.[0] ?? '', text };
  return { block, next: Math.min(next + 1, lines.length) };
};

const readQuote = (lines: Lines, at: number, depth: number): Read => {
  const inner: string[] = [];
  let next = at;
  for (let line = lines[next]; line !== undefined && quoted.test(line); line = lines[next]) {
    inner.push(line.replace(quoted, ''));
    next += 1;
  }
  return { block: { type: 'quote', blocks: parseBlocks(inner, depth + 1) }, next };
};

const readParagraph = (lines: Lines, at: number, depth: number): Read => {
  let next = at + 1;
  while (next < lines.length && !endsParagraph(lines, next, depth)) next += 1;
  return { block: { type: 'paragraph', children: parseInlines(lines.slice(at, next).join('\n')) }, next };
};

const endsParagraph = (lines: Lines, at: number, depth: number): boolean => {
  const line = lines[at] ?? '';
  if (isBlank(line) || (openFence(line) !== undefined && at + 1 < lines.length) || heading.test(line) || rule.test(line)) return true;
  return (depth < deepest && (quoted.test(line) || itemStart.test(line))) || startsTable(lines, at);
};

const readList = (lines: Lines, start: number, depth: number): Read => {
  const items: ListItem[] = [];
  const ordered = isOrdered(lines[start] ?? '');
  let at = start;
  let next = start;
  do {
    const line = lines[next] ?? '';
    const [lead = '', indent = '', marker = ''] = itemStart.exec(line) ?? [];
    const { body, end } = readItemBody(lines, next, { lead, indent: width(indent) });
    const box = task.exec(body[0] ?? '');
    if (box !== null) body[0] = body[0]?.slice(box[0].length) ?? '';
    items.push({ marker, gap: next - at, blocks: parseBlocks(body, depth + 1), ...(box !== null && { checked: box[1] !== ' ' }) });
    at = end;
    next = skipBlank(lines, at);
  } while (next < lines.length && continuesList(lines[next] ?? '', ordered));
  return { block: { type: 'list', items }, next: at };
};

const isOrdered = (line: string): boolean => /^[ \t]*\d/.test(line);

const continuesList = (line: string, ordered: boolean): boolean => itemStart.test(line) && !rule.test(line) && isOrdered(line) === ordered;

/** An item owns what is indented by two more columns than its marker, and a fence until it closes, however that is indented. */
const readItemBody = (lines: Lines, at: number, item: { readonly lead: string; readonly indent: number }): { body: string[]; end: number } => {
  const body = [(lines[at] ?? '').slice(item.lead.length)];
  let fence = openFence(body[0] ?? '');
  let end = at + 1;
  while (end < lines.length) {
    const next = fence === undefined ? skipBlank(lines, end) : end;
    const line = lines[next];
    if (line === undefined || (fence === undefined && width(/^[ \t]*/.exec(line)?.[0] ?? '') < item.indent + 2)) break;
    for (; end < next; end += 1) body.push('');
    body.push(dedent(line, item.lead.length));
    end += 1;
    if (fence === undefined) fence = openFence(line);
    else if (closesFence(fence, line)) fence = undefined;
  }
  return { body, end };
};

const width = (indent: string): number => indent.replaceAll('\t', '    ').length;

const dedent = (line: string, columns: number): string => {
  let left = columns;
  let at = 0;
  for (; left > 0 && (line[at] === ' ' || line[at] === '\t'); at += 1) left -= line[at] === '\t' ? 4 : 1;
  return line.slice(at);
};

const startsTable = (lines: Lines, at: number): boolean => {
  const header = lines[at] ?? '';
  const dashes = (lines[at + 1] ?? '').trim();
  if (!header.includes('|') || !dashes.includes('|') || !tableRule.test(dashes)) return false;
  const cells = splitRow(header);
  return cells.length === splitRow(dashes).length && cells.some((cell) => cell !== '');
};

const readTable = (lines: Lines, at: number): Read => {
  const header = splitRow(lines[at] ?? '').map(parseInlines);
  const rows: Cell[][] = [];
  let next = at + 2;
  for (let line = lines[next]; line?.includes('|') === true && openFence(line) === undefined; line = lines[next]) {
    rows.push(splitRow(line).map(parseInlines));
    next += 1;
  }
  return { block: { type: 'table', header, rows }, next };
};

const splitRow = (line: string): readonly string[] => {
  const inner = line.trim().replace(/^\|/, '').replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
};

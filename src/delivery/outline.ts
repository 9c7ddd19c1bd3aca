import { closesFence, openFence } from '../lib/markdown/fence.ts';

interface Extent {
  readonly start: number;
  /** Before the newline that ends it. */
  readonly end: number;
}

/** A fenced code block, from its opening line to its closing one. */
export interface CodeBlock extends Extent {
  readonly marker: string;
  /** What stands before the code on every line, when the block is part of a quote. */
  readonly quote: string;
  readonly opening: string;
  /** The opening line without the language. */
  readonly bareOpening: string;
  readonly closing: string;
  readonly codeStart: number;
  /** Where the closing line begins; `end` when there is none. */
  readonly codeEnd: number;
  readonly closed: boolean;
}

/** What a text consists of, as far as cutting it is concerned. */
export interface Outline {
  readonly codeBlocks: readonly CodeBlock[];
  /** Lines of running text that belong together: emphasis and links do not reach beyond. */
  readonly runs: readonly Extent[];
}

const containers = /^((?:[ \t]*>)*)([ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)/;
const blockStart = /^[ \t]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\|)/;

/** Reads a text line by line, in the words of `lib/markdown`: fences may be indented, quoted or stand in list items. */
export const outlineOf = (text: string): Outline => {
  const codeBlocks: CodeBlock[] = [];
  const runs: { start: number; end: number }[] = [];
  let open: CodeBlock | undefined;
  let joins = false;
  for (let start = 0, end = 0; start <= text.length; start = end + 1) {
    end = endOfLine(text, start);
    const line = text.slice(start, end).replace(/\r$/, '');
    if (open !== undefined) {
      const closing = closes(open, line);
      if (closing === 'no') continue;
      codeBlocks.push(closing === 'yes' ? { ...open, codeEnd: start, end, closed: true } : { ...open, codeEnd: start - 1, end: start - 1 });
      open = undefined;
      if (closing === 'yes') continue;
    }
    open = openBlock(line, start, end);
    const last = runs.at(-1);
    if (open !== undefined || line.trim() === '') joins = false;
    else if (joins && last !== undefined && !blockStart.test(line)) last.end = end;
    else joins = runs.push({ start, end }) > 0;
  }
  if (open !== undefined) codeBlocks.push({ ...open, codeEnd: text.length, end: text.length });
  return { codeBlocks, runs };
};

const endOfLine = (text: string, at: number): number => {
  const newline = text.indexOf('\n', at);
  return newline === -1 ? text.length : newline;
};

const openBlock = (line: string, start: number, end: number): CodeBlock | undefined => {
  const [prefix = '', quote = '', item = ''] = containers.exec(line) ?? [];
  const fence = openFence(line.slice(prefix.length));
  if (fence === undefined) return undefined;
  const lead = quote + item.replace(/\S/g, ' ') + fence.indent + fence.marker;
  return { start, end, marker: fence.marker, quote, opening: lead + fence.info, bareOpening: lead, closing: lead, codeStart: end + 1, codeEnd: end, closed: false };
};

const depth = (quote: string): number => quote.split('>').length;

/** A block in a quote also ends where the quote ends. */
const closes = (block: CodeBlock, line: string): 'yes' | 'no' | 'quote ended' => {
  const [, quote = ''] = block.quote === '' ? [] : (containers.exec(line) ?? []);
  if (depth(quote) < depth(block.quote)) return 'quote ended';
  return closesFence(block, line.slice(quote.length)) ? 'yes' : 'no';
};

/** The last of `extents` that begins before `position` and reaches it; they are in order and apart. */
export const extentAround = <E extends Extent>(extents: readonly E[], position: number): E | undefined => {
  let low = 0;
  let high = extents.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((extents[middle]?.start ?? Infinity) < position) low = middle + 1;
    else high = middle;
  }
  const found = extents[low - 1];
  return found !== undefined && position <= found.end ? found : undefined;
};

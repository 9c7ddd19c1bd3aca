import { closesFence, openFence } from '../lib/markdown/fence.ts';
import { inlineRanges } from '../lib/markdown/ranges.ts';
import { extentAround, outlineOf } from './outline.ts';
import type { CodeBlock, Outline } from './outline.ts';

/** Where a piece ends and the next one begins; between them lies nothing, one newline or one space. */
export interface Cut {
  readonly end: number;
  readonly next: number;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** A text with what cutting it needs to know, worked out when first asked for. */
export interface Source {
  readonly text: string;
  readonly outline: Outline;
  /** The code span, link or emphasis that `position` would cut through. */
  rangeAround(position: number): Range | undefined;
  /** The last boundary between characters as people see them, at or before `position`. */
  characterBoundary(position: number): number;
}

/** Ranges longer than `longestRange` cannot be kept whole and are not looked at. */
export const openSource = (text: string, longestRange: number): Source => {
  const outline = outlineOf(text);
  const segments = new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text);
  const cache = new Map<number, readonly Range[]>();
  const rangesOf = (run: Range): readonly Range[] => {
    const known = cache.get(run.start);
    if (known !== undefined) return known;
    const ranges: Range[] = [];
    for (const { start, end } of inlineRanges(text.slice(run.start, run.end))) {
      if (end - start > longestRange || run.start + start < (ranges.at(-1)?.end ?? 0)) continue;
      ranges.push({ start: run.start + start, end: run.start + end });
    }
    cache.set(run.start, ranges);
    return ranges;
  };
  return {
    text,
    outline,
    rangeAround(position) {
      const run = extentAround(outline.runs, position);
      const range = run === undefined ? undefined : extentAround(rangesOf(run), position);
      return range === undefined || position === range.end ? undefined : range;
    },
    characterBoundary: (position) => (position < text.length ? (segments.containing(position)?.index ?? position) : position),
  };
};

/** The best place to cut a piece that begins at `start` and must end at or before `max`. */
export const bestCut = (source: Source, start: number, max: number): Cut => {
  const block = extentAround(source.outline.codeBlocks, max);
  const inCode = block !== undefined && (max < block.end || !block.closed);
  return (inCode ? cutInCode(source, block, { start, max }) : cutInText(source, { start, max })) ?? cutAnywhere(source, inCode ? block : undefined, { start, max });
};

interface Window {
  readonly start: number;
  readonly max: number;
}

const cutInCode = ({ text }: Source, block: CodeBlock, { start, max }: Window): Cut | undefined => {
  const room = max - start;
  const before = block.start > start ? lineCut(text, block.start - 1) : undefined;
  if (before !== undefined && block.end - block.start <= room && block.start - start >= room / 4) return before;
  for (const newline of newlinesDown(text, { start: Math.max(start, block.codeStart), max })) {
    // The closing line that the piece gets stands for the block's own.
    if (block.closed && newline + 1 >= block.codeEnd) return { end: lineCut(text, newline).end, next: Math.min(block.end + 1, text.length) };
    return lineFits(text, newline + 1, room) || newline - start >= room / 2 ? lineCut(text, newline) : before;
  }
  return before;
};

const cutInText = (source: Source, { start, max }: Window): Cut | undefined => {
  const { text } = source;
  const middle = start + (max - start) / 2;
  let line: number | undefined;
  for (const newline of newlinesDown(text, { start, max })) {
    if (newline < middle) break;
    if (source.rangeAround(newline) !== undefined) continue;
    if (endsBlock(source, newline)) return lineCut(text, newline);
    line ??= newline;
  }
  return line === undefined ? cutAtSpace(source, { start, max }) : lineCut(text, line);
};

/** A space or newline outside code, links and emphasis, unless a word follows that is too long for any piece. */
const cutAtSpace = (source: Source, { start, max }: Window): Cut | undefined => {
  const { text } = source;
  const room = max - start;
  for (let at = max; at > start; at -= 1) {
    if (text[at] !== ' ' && text[at] !== '\n') continue;
    const range = source.rangeAround(at);
    if (range !== undefined) {
      at = Math.max(range.start, start);
      continue;
    }
    const cut = spaceCut(text, at);
    if (text[at] === ' ' && !keepsLines(source, undefined, { start, ...cut })) continue;
    return wordFits(text, at + 1, room) || at - start >= room / 2 ? cut : undefined;
  }
  return undefined;
};

/** Between two characters: before code, a link or emphasis; else in a space of theirs; else where no half of a line becomes a fence. */
const cutAnywhere = (source: Source, block: CodeBlock | undefined, { start, max }: Window): Cut => {
  const { text } = source;
  const range = block === undefined ? source.rangeAround(max) : undefined;
  if (range !== undefined && range.start > start) return { end: range.start, next: range.start };
  const space = range === undefined ? -1 : text.slice(start, max + 1).search(/\s\S*$/);
  if (space > 0) return spaceCut(text, start + space);
  const whole = source.characterBoundary(max);
  if (whole <= start) return codePointCut(text, { start, max });
  for (let end = whole, tries = 0; tries < 16 && end > start; tries += 1) {
    if (keepsLines(source, block, { start, end, next: end })) return { end, next: end };
    end = source.characterBoundary(end - 1);
  }
  return { end: whole, next: whole };
};

/** For a character, as people see it, that is longer than a whole piece. */
const codePointCut = (text: string, { start, max }: Window): Cut => {
  const inPair = /[\uDC00-\uDFFF]/.test(text.charAt(max)) && /[\uD800-\uDBFF]/.test(text.charAt(max - 1));
  const end = inPair ? (max - 1 > start ? max - 1 : max + 1) : max;
  return { end, next: end };
};

const blockMarker = /^[ \t]*(?:>|#{1,6}[ \t]|[-*+][ \t]|\d{1,9}[.)][ \t]|\|)/;
const longEnoughToJudge = 256;

/** Cutting inside a line must not make its halves mean something else than the line did. */
const keepsLines = ({ text }: Source, block: CodeBlock | undefined, { start, end, next }: Cut & { readonly start: number }): boolean => {
  const head = text.slice(start, end).split('\n').at(-1) ?? '';
  const tail = text.slice(next, next + longEnoughToJudge).split('\n')[0] ?? '';
  if (block !== undefined) return !closesFence(block, head) && !closesFence(block, tail);
  return openFence(head) === undefined && openFence(tail) === undefined && !blockMarker.test(tail);
};

const lineCut = (text: string, newline: number): Cut => ({ end: text[newline - 1] === '\r' ? newline - 1 : newline, next: newline + 1 });

const spaceCut = (text: string, at: number): Cut => (text[at] === '\n' ? lineCut(text, at) : { end: at, next: at + 1 });

const lineFits = (text: string, at: number, room: number): boolean => at + room >= text.length || text.slice(at, at + room).includes('\n');

const wordFits = (text: string, at: number, room: number): boolean => at + room >= text.length || /\s/.test(text.slice(at, at + room));

/** A blank line, or the edge of a code block. */
const endsBlock = ({ text, outline }: Source, newline: number): boolean => {
  if (text[lineCut(text, newline).end - 1] === '\n') return true;
  return extentAround(outline.codeBlocks, newline)?.end === newline || extentAround(outline.codeBlocks, newline + 2)?.start === newline + 1;
};

/** The newlines after `start` up to and including `max`, the last one first. */
function* newlinesDown(text: string, { start, max }: Window): Generator<number> {
  const window = text.slice(start, max + 1);
  for (let at = window.lastIndexOf('\n'); at > 0; at = window.lastIndexOf('\n', at - 1)) yield start + at;
}

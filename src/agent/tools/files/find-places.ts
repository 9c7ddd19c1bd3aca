import { indentationRule, reindent } from './indentation.ts';
import { findBlock, likeness, plainLetters, textLines } from './text-lines.ts';
import type { TextLine } from './text-lines.ts';

/** A part of a text and what takes its place. */
export interface Spot {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

export type Found =
  | { readonly type: 'found'; /** What had to be overlooked; nothing for an exact match. */ readonly how?: string; readonly spots: readonly Spot[] }
  | { readonly type: 'ambiguous'; readonly how?: string; readonly count: number; /** The first of them. */ readonly lines: readonly number[] }
  | { readonly type: 'too_many' }
  | { readonly type: 'missing'; readonly nearest?: { readonly line: number; readonly text: string } };

interface Search {
  readonly text: string;
  readonly lines: readonly TextLine[];
  readonly old: string;
  readonly replacement: string;
}

interface Strategy {
  /** What is overlooked, for the model. */
  readonly how?: string;
  /** Never used for several places at once. */
  readonly single?: true;
  find(search: Search): readonly Spot[];
}

/** More lines than this are only searched exactly. */
const maxFuzzyLines = 200_000;

/** Places beyond this are not counted, and not replaced. */
const maxSpots = 100_000;
/** Words times letters, beyond which only texts made to be slow would need more. */
const maxWordSteps = 200_000_000;

const occurrences = (text: string, part: string): number[] => {
  const found: number[] = [];
  for (let at = text.indexOf(part); at !== -1 && found.length <= maxSpots; at = text.indexOf(part, at + 1)) found.push(at);
  return found;
};

const spotOfLines = ({ text, lines, old }: Search, at: number, block: { readonly count: number; readonly replacement: string }): Spot => {
  const to = lines[at + block.count - 1]?.to ?? text.length;
  return { from: lines[at]?.from ?? 0, to: old.endsWith('\n') && to < text.length ? to + 1 : to, text: block.replacement };
};

const blockOf = (old: string): readonly string[] => old.replace(/\n$/, '').split('\n');

const byLines =
  (plain: (line: string) => string) =>
  (search: Search): readonly Spot[] => {
    const block = blockOf(search.old);
    return findBlock(search.lines.map(({ text }) => text), block, plain).map((at) => spotOfLines(search, at, { count: block.length, replacement: search.replacement }));
  };

const byIndentation = (search: Search): readonly Spot[] => {
  const block = blockOf(search.old);
  const lines = search.lines.map(({ text }) => text);
  return findBlock(lines, block, (line) => plainLetters(line).trim()).flatMap((at) => {
    const rule = indentationRule(block, lines.slice(at, at + block.length));
    return rule === undefined ? [] : [spotOfLines(search, at, { count: block.length, replacement: reindent(search.replacement, rule) })];
  });
};

/** The words in their order, with any white space between them. */
const byWords = ({ text, old, replacement }: Search): readonly Spot[] => {
  const words = old.split(/\s+/).filter((word) => word !== '');
  if (words.length < 2 || words.length * text.length > maxWordSteps) return [];
  const pattern = new RegExp(words.map((word) => RegExp.escape(word)).join('\\s+'), 'g');
  return [...text.matchAll(pattern)].map((match) => ({ from: match.index, to: match.index + match[0].length, text: replacement }));
};

const unescaped = (text: string): string =>
  text.replaceAll(/\\(n|t|r|"|'|\\)/g, (_whole, letter: string) => ({ n: '\n', t: '\t', r: '\r' })[letter] ?? letter);

const byEscapes = (search: Search): readonly Spot[] => {
  const old = unescaped(search.old);
  if (old === search.old) return [];
  const inner = { ...search, old, replacement: unescaped(search.replacement) };
  const exact = occurrences(search.text, old).map((from) => ({ from, to: from + old.length, text: inner.replacement }));
  return exact.length > 0 ? exact : byIndentation(inner);
};

const withoutBlankEdges = (text: string): string => text.replace(/^(?:[ \t]*\n)+/, '').replace(/(?:\n[ \t]*)+$/, '');

const byCore = (search: Search): readonly Spot[] => {
  const old = withoutBlankEdges(search.old);
  return old === search.old || old.trim() === '' ? [] : byIndentation({ ...search, old, replacement: withoutBlankEdges(search.replacement) });
};

const leastLikeness = 0.85;

const byAnchors = (search: Search): readonly Spot[] => {
  const block = blockOf(search.old).map((line) => line.trim());
  const [first, last] = [block[0] ?? '', block.at(-1) ?? ''];
  if (block.length < 3 || first === '' || last === '') return [];
  const lines = search.lines.map(({ text }) => text.trim());
  const middle = block.slice(1, -1).join('\n');
  const starts = findBlock(lines, [first], (line) => line).filter((at) => lines[at + block.length - 1] === last);
  return starts
    .filter((at) => likeness(lines.slice(at + 1, at + block.length - 1).join('\n'), middle) >= leastLikeness)
    .map((at) => spotOfLines(search, at, { count: block.length, replacement: search.replacement }));
};

const strategies: readonly Strategy[] = [
  { find: ({ text, old, replacement }) => occurrences(text, old).map((from) => ({ from, to: from + old.length, text: replacement })) },
  { how: 'white space at line ends', find: byLines((line) => line.trimEnd()) },
  { how: 'typographic quotes, dashes and spaces', find: ({ text, old, replacement }) => occurrences(plainLetters(text), plainLetters(old)).map((from) => ({ from, to: from + old.length, text: replacement })) },
  { how: 'white space inside lines', find: byLines((line) => plainLetters(line).trimEnd().replaceAll(/(?<=\S)[ \t]+/g, ' ')) },
  { how: 'indentation', find: byIndentation },
  { how: 'escaped characters', find: byEscapes },
  { how: 'blank lines around it', find: byCore },
  { how: 'line breaks and white space', find: byWords },
  { how: 'small differences between its first and last line', single: true, find: byAnchors },
];

const lineAt = (text: string, at: number): number => text.slice(0, at).split('\n').length;

/** Overlapping matches are several places to choose between, but can be replaced only once each. */
const apart = (spots: readonly Spot[]): readonly Spot[] => {
  const out: Spot[] = [];
  for (const spot of spots) if (spot.from >= (out.at(-1)?.to ?? 0)) out.push(spot);
  return out;
};

const maxHintLines = 20_000;

const nearestLine = ({ lines, old }: Search): { readonly line: number; readonly text: string } | undefined => {
  const wanted = old.split('\n').find((line) => line.trim() !== '')?.trim().slice(0, 300) ?? '';
  let best: { line: number; text: string; score: number } | undefined;
  for (const [index, { text }] of lines.slice(0, maxHintLines).entries()) {
    const score = likeness(text.trim().slice(0, 300), wanted);
    if (score > (best?.score ?? 0.6)) best = { line: index + 1, text: text.slice(0, 200), score };
    if (score === 1) break;
  }
  return best === undefined ? undefined : { line: best.line, text: best.text };
};

/**
 * Finds the one place that was meant, or every one with `all`. Strategies that overlook more come later, and each is asked only when those before it found
 * nothing. Where one finds several places and one was wanted, nobody guesses.
 */
export const findPlaces = (text: string, change: { readonly old: string; readonly replacement: string; readonly all: boolean }): Found => {
  const search: Search = { text, lines: textLines(text), old: change.old, replacement: change.replacement };
  const usable = search.lines.length > maxFuzzyLines ? strategies.slice(0, 1) : strategies;
  for (const { how, single, find } of usable) {
    const spots = find(search);
    if (spots.length === 0) continue;
    const named = how === undefined ? {} : { how };
    if (spots.length > 1 && (!change.all || single)) return { type: 'ambiguous', ...named, count: spots.length, lines: spots.slice(0, 10).map(({ from }) => lineAt(text, from)) };
    if (spots.length > maxSpots) return { type: 'too_many' };
    return { type: 'found', ...named, spots: apart(spots) };
  }
  const nearest = nearestLine(search);
  return { type: 'missing', ...(nearest !== undefined && { nearest }) };
};

/** The text with every spot replaced. Spots are in order and do not overlap. */
export const replaceSpots = (text: string, spots: readonly Spot[]): string => {
  let out = '';
  let at = 0;
  for (const spot of spots) {
    out += text.slice(at, spot.from) + spot.text;
    at = spot.to;
  }
  return out + text.slice(at);
};

import { pairDelimiters, readDelimiter } from './delimiters.ts';
import type { Delimiter } from './delimiters.ts';
import type { TextStyle } from './tree.ts';

/** A piece of running text that means something as a whole, in offsets of the source. Ranges nest or are apart. */
export interface InlineRange {
  readonly type: TextStyle | 'code' | 'link' | 'image';
  readonly start: number;
  readonly innerStart: number;
  readonly innerEnd: number;
  readonly end: number;
  readonly url?: string;
  readonly bare?: boolean;
}

interface Bracket {
  readonly start: number;
  readonly image: boolean;
  /** How many delimiters there were before it. */
  readonly bottom: number;
}

interface Scan {
  readonly text: string;
  readonly ranges: InlineRange[];
  readonly delimiters: Delimiter[];
  readonly brackets: Bracket[];
  /** Brackets below this index cannot become links: one has been closed inside them. */
  linkFloor: number;
  /** Start of the last run of backticks by length, so that a missing one is not searched for again and again. */
  lastRuns?: ReadonlyMap<number, number>;
}

const interesting = /[\\`<[\]!*_~|]|https?:\/\//;
const punctuation = /[!-/:-@[-`{-~]/;
const word = /[\p{L}\p{N}]/u;

/** Finds code, links, images and emphasis in time proportional to the text. What is not balanced is not found. */
export const inlineRanges = (text: string): readonly InlineRange[] => {
  const scan: Scan = { text, ranges: [], delimiters: [], brackets: [], linkFloor: 0 };
  const next = new RegExp(interesting, 'g');
  for (let found = next.exec(text); found !== null; found = next.exec(text)) next.lastIndex = step(scan, found.index, found[0]);
  addPairs(scan, 0);
  return scan.ranges.sort((a, b) => a.start - b.start || b.end - a.end);
};

const addPairs = (scan: Scan, bottom: number): void => {
  for (const range of pairDelimiters(scan.delimiters.splice(bottom))) scan.ranges.push(range);
};

/** Handles what stands at `at` and answers where to go on. */
const step = (scan: Scan, at: number, found: string): number => {
  const { text } = scan;
  switch (found) {
    case '\\':
      return punctuation.test(text.charAt(at + 1)) ? at + 2 : at + 1;
    case '`':
      return readCode(scan, at);
    case '<':
      return readAutolink(scan, at);
    case '[':
      scan.brackets.push({ start: at, image: false, bottom: scan.delimiters.length });
      return at + 1;
    case '!':
      if (text[at + 1] !== '[') return at + 1;
      scan.brackets.push({ start: at, image: true, bottom: scan.delimiters.length });
      return at + 2;
    case ']':
      return closeBracket(scan, at);
    case '*':
    case '_':
    case '~':
    case '|': {
      const delimiter = readDelimiter(text, at);
      if (delimiter.canOpen || delimiter.canClose) scan.delimiters.push(delimiter);
      return delimiter.end;
    }
    default:
      return readUrl(scan, at);
  }
};

const lastRuns = (text: string): ReadonlyMap<number, number> => {
  const last = new Map<number, number>();
  for (const run of text.matchAll(/`+/g)) last.set(run[0].length, run.index);
  return last;
};

const runLength = (text: string, at: number): number => {
  let end = at;
  while (text[end] === '`') end += 1;
  return end - at;
};

const readCode = (scan: Scan, start: number): number => {
  const { text, ranges } = scan;
  const length = runLength(text, start);
  const innerStart = start + length;
  scan.lastRuns ??= lastRuns(text);
  if ((scan.lastRuns.get(length) ?? -1) < innerStart) return innerStart;
  let close = innerStart;
  for (;;) {
    close = text.indexOf('`', close);
    const closeLength = runLength(text, close);
    if (closeLength === length) break;
    close += closeLength;
  }
  ranges.push({ type: 'code', start, innerStart, innerEnd: close, end: close + length });
  return close + length;
};

const autolink = /<((?:https?:\/\/|mailto:)[^\s<>|]+)>/y;

const readAutolink = ({ text, ranges }: Scan, start: number): number => {
  autolink.lastIndex = start;
  const url = autolink.exec(text)?.[1];
  if (url === undefined) return start + 1;
  ranges.push({ type: 'link', start, innerStart: start + 1, innerEnd: start + 1 + url.length, end: start + 2 + url.length, url, bare: true });
  return start + 2 + url.length;
};

const bareUrl = /https?:\/\/[^\s<>`|[\]]+/y;

const readUrl = ({ text, ranges }: Scan, start: number): number => {
  if (word.test(text.charAt(start - 1))) return start + 4;
  bareUrl.lastIndex = start;
  const url = trimUrl(bareUrl.exec(text)?.[0] ?? '');
  if (!/^https?:\/\/./.test(url)) return start + 4;
  const end = start + url.length;
  ranges.push({ type: 'link', start, innerStart: start, innerEnd: end, end, url, bare: true });
  return end;
};

/** A bare address ends before the punctuation of its sentence, the emphasis around it and a parenthesis that it has not opened. */
const trimUrl = (url: string): string => {
  let surplus = url.split(')').length - url.split('(').length;
  let end = url.length;
  for (; end > 0; end -= 1) {
    const last = url.charAt(end - 1);
    if (last === ')' && surplus > 0) surplus -= 1;
    else if (!`?!.,:;*_~'"\\`.includes(last)) break;
  }
  return url.slice(0, end);
};

/** Address in angle brackets or without white space and with balanced parentheses, then perhaps a title. */
const angled = /\(\s*<([^<>\n]*)>/y;
const title = /(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)/y;
const deepestParentheses = 32;

const closeBracket = (scan: Scan, at: number): number => {
  const { text, ranges } = scan;
  const bracket = scan.brackets.pop();
  if (bracket === undefined) return at + 1;
  const barred = !bracket.image && scan.brackets.length < scan.linkFloor;
  scan.linkFloor = Math.min(scan.linkFloor, scan.brackets.length);
  const destination = barred ? undefined : readDestination(text, at + 1);
  if (destination === undefined) return at + 1;
  addPairs(scan, bracket.bottom);
  const innerStart = bracket.start + (bracket.image ? 2 : 1);
  ranges.push({ type: bracket.image ? 'image' : 'link', start: bracket.start, innerStart, innerEnd: at, end: destination.end, url: destination.url, bare: false });
  if (!bracket.image) scan.linkFloor = scan.brackets.length;
  return destination.end;
};

const readDestination = (text: string, at: number): { readonly url: string; readonly end: number } | undefined => {
  if (text[at] !== '(') return undefined;
  angled.lastIndex = at;
  const inAngles = angled.exec(text);
  const urlStart = inAngles === null ? skipSpace(text, at + 1) : at;
  const urlEnd = inAngles === null ? endOfUrl(text, urlStart) : angled.lastIndex;
  if (urlEnd === undefined) return undefined;
  title.lastIndex = urlEnd;
  const url = unescapeMarkdown(inAngles?.[1] ?? text.slice(urlStart, urlEnd));
  return url !== '' && title.test(text) ? { url, end: title.lastIndex } : undefined;
};

const skipSpace = (text: string, at: number): number => {
  let end = at;
  while (text[end] === ' ' || text[end] === '\n') end += 1;
  return end;
};

const endOfUrl = (text: string, start: number): number | undefined => {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '\\' && punctuation.test(text.charAt(at + 1))) at += 1;
    else if (char === '(') depth += 1;
    else if (char === ')') depth -= 1;
    else if (char <= ' ') return depth === 0 ? at : undefined;
    if (depth < 0) return at;
    if (depth > deepestParentheses) return undefined;
  }
  return undefined;
};

/** Takes the backslash off escaped punctuation. */
export const unescapeMarkdown = (text: string): string => (text.includes('\\') ? text.replace(/\\([!-/:-@[-`{-~])/g, '$1') : text);

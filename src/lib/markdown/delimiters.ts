import type { InlineRange } from './ranges.ts';

/** A run of `*` or `_`, or a `~~` or `||`, with what CommonMark's flanking rules let it do. */
export interface Delimiter {
  readonly char: string;
  readonly start: number;
  readonly end: number;
  readonly canOpen: boolean;
  readonly canClose: boolean;
}

interface Flanks {
  readonly before: string;
  readonly after: string;
  /** Some text behind the run, for rules that look further than one character. */
  readonly ahead: string;
  readonly length: number;
  readonly left: boolean;
  readonly right: boolean;
}

type Ability = Pick<Delimiter, 'canOpen' | 'canClose'>;

const space = /^\s?$/u;
const mark = /^[\p{P}\p{S}]$/u;
const wordChar = /^[\p{L}\p{N}]/u;
/** Written without spaces: emphasis begins and ends in the middle of a run of letters. */
const cjk = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
const neither: Ability = { canOpen: false, canClose: false };

/** Reads the run that begins at `start`. */
export const readDelimiter = (text: string, start: number): Delimiter => {
  const char = text.charAt(start);
  let end = start + 1;
  while (text[end] === char) end += 1;
  const ability = { '*': star, _: underscore, '~': double, '|': bars }[char] ?? (() => neither);
  return { char, start, end, ...ability(flanksOf(text, start, end)) };
};

const flanksOf = (text: string, start: number, end: number): Flanks => {
  const before = Array.from(text.slice(Math.max(0, start - 2), start)).at(-1) ?? '';
  const ahead = text.slice(end, end + 4);
  const after = Array.from(ahead)[0] ?? '';
  const left = !space.test(after) && (!mark.test(after) || space.test(before) || mark.test(before) || cjk.test(before));
  const right = !space.test(before) && (!mark.test(before) || space.test(after) || mark.test(after) || cjk.test(after));
  return { before, after, ahead, length: end - start, left, right };
};

/** Beyond CommonMark: products, powers, globs and comments of code keep their asterisks. */
const star = (flanks: Flanks): Ability => {
  const { before, after, ahead, length, left, right } = flanks;
  if (length === 1) {
    if (before === '/' || (isFactorEnd(before) && isFactorStart(after))) return neither;
    if (after === '/') return { canOpen: left && wordChar.test(ahead.slice(1)), canClose: false };
    return { canOpen: left && !/^\.[\p{L}\p{N}]/u.test(ahead), canClose: right };
  }
  const power = /^\p{N}$/u.test(before) && /^\p{N}$/u.test(after);
  const glob = before === '/' && /^\.?[\p{L}\p{N}*{/]/u.test(ahead);
  return power || glob ? neither : { canOpen: left, canClose: right };
};

const isFactorEnd = (char: string): boolean => /^[)\]}]$/.test(char) || isLatinLike(char);
const isFactorStart = (char: string): boolean => /^[([{]$/.test(char) || isLatinLike(char);
const isLatinLike = (char: string): boolean => wordChar.test(char) && !cjk.test(char);

/** Beyond CommonMark: `module.__name__` and `__init__()` keep their underscores. */
const underscore = ({ before, after, ahead, left, right }: Flanks): Ability => ({
  canOpen: left && (!right || mark.test(before)) && before !== '.',
  canClose: right && (!left || mark.test(after)) && !/^(?:\(|\.[\p{L}\p{N}])/u.test(ahead),
});

const double = ({ length, left, right }: Flanks): Ability => (length === 2 ? { canOpen: left, canClose: right } : neither);

const bars = ({ before, after, length, left, right }: Flanks): Ability =>
  length === 2 ? { canOpen: left && !wordChar.test(before), canClose: right && !wordChar.test(after) } : neither;

interface Run extends Ability {
  readonly char: string;
  readonly length: number;
  start: number;
  end: number;
  previous: Run | undefined;
  next: Run | undefined;
}

/** Pairs closers with openers as CommonMark does, in linear time. */
export const pairDelimiters = (delimiters: readonly Delimiter[]): readonly InlineRange[] => {
  const ranges: InlineRange[] = [];
  /** Where the search for an opener of a kind has already ended without one. */
  const bottoms = new Map<string, Run | undefined>();
  let closer = chain(delimiters);
  while (closer !== undefined) {
    if (!closer.canClose) {
      closer = closer.next;
      continue;
    }
    const kind = `${closer.char}${closer.canOpen}${closer.length % 3}`;
    const opener = findOpener(closer, bottoms.get(kind));
    if (opener === undefined) {
      bottoms.set(kind, closer.previous);
      const { next } = closer;
      if (!closer.canOpen) unlink(closer);
      closer = next;
      continue;
    }
    ranges.push(join(opener, closer));
    opener.next = closer;
    closer.previous = opener;
    if (opener.start === opener.end) unlink(opener);
    if (closer.start === closer.end) {
      const { next } = closer;
      unlink(closer);
      closer = next;
    }
  }
  return ranges;
};

const chain = (delimiters: readonly Delimiter[]): Run | undefined => {
  let first: Run | undefined;
  let last: Run | undefined;
  for (const { char, start, end, canOpen, canClose } of delimiters) {
    const run: Run = { char, start, end, canOpen, canClose, length: end - start, previous: last, next: undefined };
    if (last === undefined) first = run;
    else last.next = run;
    last = run;
  }
  return first;
};

const unlink = (run: Run): void => {
  if (run.previous !== undefined) run.previous.next = run.next;
  if (run.next !== undefined) run.next.previous = run.previous;
};

const findOpener = (closer: Run, bottom: Run | undefined): Run | undefined => {
  for (let run = closer.previous; run !== undefined && run !== bottom; run = run.previous) {
    if (run.char !== closer.char || !run.canOpen) continue;
    const odd = (run.canClose || closer.canOpen) && (run.length + closer.length) % 3 === 0 && (run.length % 3 !== 0 || closer.length % 3 !== 0);
    if (!odd) return run;
  }
  return undefined;
};

const join = (opener: Run, closer: Run): InlineRange => {
  const width = Math.min(2, opener.end - opener.start, closer.end - closer.start);
  opener.end -= width;
  closer.start += width;
  const type = opener.char === '~' ? 'strike' : opener.char === '|' ? 'spoiler' : width === 2 ? 'bold' : 'italic';
  return { type, start: opener.end, innerStart: opener.end + width, innerEnd: closer.start - width, end: closer.start };
};

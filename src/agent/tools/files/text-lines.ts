/** One line of a text, without its line feed. */
export interface TextLine {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** A text that ends with a line feed has no further, empty line. */
export const textLines = (text: string): readonly TextLine[] => {
  const lines: TextLine[] = [];
  let from = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', from)) {
    lines.push({ text: text.slice(from, at), from, to: at });
    from = at + 1;
  }
  if (from < text.length) lines.push({ text: text.slice(from), from, to: text.length });
  return lines;
};

/** Comparisons after which a search gives up; only texts made to be slow need more. */
const maxComparisons = 20_000_000;

/** Where a block of lines occurs, by the index of its first line, when lines count as equal that `plain` makes equal. */
export const findBlock = (lines: readonly string[], block: readonly string[], plain: (line: string) => string): readonly number[] => {
  if (block.length === 0 || block.length > lines.length) return [];
  const wanted = block.map(plain);
  const have = lines.map(plain);
  const found: number[] = [];
  let comparisons = 0;
  for (let at = 0; at <= have.length - wanted.length; at += 1) {
    let matched = 0;
    while (matched < wanted.length && have[at + matched] === wanted[matched]) matched += 1;
    comparisons += matched + 1;
    if (comparisons > maxComparisons) return [];
    if (matched === wanted.length) found.push(at);
  }
  return found;
};

const lookAlikes: Readonly<Record<string, string>> = {
  '\u2018': "'", '\u2019': "'", '\u201A': "'", '\u201B': "'", '\u2032': "'", '\u201C': '"', '\u201D': '"', '\u201E': '"', '\u2033': '"', '\u00AB': '"', '\u00BB': '"',
  '\u2010': '-', '\u2011': '-', '\u2012': '-', '\u2013': '-', '\u2014': '-', '\u2212': '-', '\u00A0': ' ', '\u2007': ' ', '\u2009': ' ', '\u202F': ' ', '\u3000': ' ',
};
const anyLookAlike = new RegExp(`[${Object.keys(lookAlikes).join('')}]`, 'g');

/** Quotes, dashes and spaces of typography as those of a keyboard; the length stays the same. */
export const plainLetters = (text: string): string => text.replaceAll(anyLookAlike, (letter) => lookAlikes[letter] ?? letter);

/** How alike two texts are, from 0 to 1, by the pairs of letters they share. */
export const likeness = (a: string, b: string): number => {
  if (a === b) return 1;
  if (a.length < 2 || b.length < 2) return 0;
  const pairs = new Map<string, number>();
  for (let at = 0; at < a.length - 1; at += 1) pairs.set(a.slice(at, at + 2), (pairs.get(a.slice(at, at + 2)) ?? 0) + 1);
  let shared = 0;
  for (let at = 0; at < b.length - 1; at += 1) {
    const left = pairs.get(b.slice(at, at + 2)) ?? 0;
    if (left > 0) shared += 1;
    pairs.set(b.slice(at, at + 2), left - 1);
  }
  return (2 * shared) / (a.length + b.length - 2);
};

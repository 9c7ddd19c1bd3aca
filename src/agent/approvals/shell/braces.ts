const maxResults = 256;

/**
 * The next place where one of these stands outside of quotes and inner braces, from `from` on. A closing brace counts only behind a comma or a range, and
 * an opening one not before a closing one at the start of the word: so does bash.
 */
const find = (text: string, from: number, wanted: '{' | '}' | ','): number => {
  let level = 0;
  let commas = wanted === '}' ? 0 : 1;
  let quote = '';
  for (let i = from; i < text.length; i += 1) {
    const char = text[i] ?? '';
    if (char === '\\' && quote !== "'") i += 1;
    else if (quote !== '') quote = char === quote || (quote === "$'" && char === "'") ? '' : quote;
    else if (char === '$' && text[i + 1] === "'") {
      quote = "$'";
      i += 1;
    } else if (char === "'" || char === '"' || char === '`') quote = char;
    else if (char === '$' && text[i + 1] === '{') {
      level += 1;
      i += 1;
    } else if (char === wanted && level === 0 && commas > 0) {
      if (char !== '{' || i > 0 || text[1] !== '}') return i;
    } else if (char === '{' || char === '(') level += 1;
    else if ((char === '}' || char === ')') && level > 0) level -= 1;
    else if (wanted === '}' && level === 0 && (char === ',' || (text.startsWith('..', i) && text[i + 2] !== '}'))) commas += 1;
  }
  return -1;
};

const hasComma = (text: string): boolean => text.replaceAll(/\\./gs, '').includes(',');

const padded = (value: number, width: number): string => (value < 0 ? `-${String(-value).padStart(width - 1, '0')}` : String(value).padStart(width, '0'));

/** Undefined when it is too long; what is no range stays as it is. */
const range = (text: string): readonly string[] | undefined => {
  const match = /^(?:([+-]?\d+)\.\.([+-]?\d+)|([A-Za-z])\.\.([A-Za-z]))(?:\.\.([+-]?\d+))?$/.exec(text);
  if (match === null) return [`{${text}}`];
  const [, first, last, fromLetter, toLetter, step] = match;
  const numeric = first !== undefined && last !== undefined;
  const [from, to] = numeric ? [Number(first), Number(last)] : [fromLetter?.codePointAt(0) ?? 0, toLetter?.codePointAt(0) ?? 0];
  const by = Math.abs(Number(step ?? 1)) || 1;
  const count = Math.floor(Math.abs(to - from) / by) + 1;
  if (count > maxResults) return undefined;
  const width = numeric && /^[+-]?0\d/.test(/^[+-]?0\d/.test(first) ? first : last) ? Math.max(first.length, last.length) : 0;
  return Array.from({ length: count }, (_, i) => {
    const each = from + i * by * Math.sign(to - from || 1);
    return numeric ? padded(each, width) : String.fromCodePoint(each);
  });
};

const splitParts = (text: string): readonly string[] => {
  const at = find(text, 0, ',');
  return at === -1 ? [text] : [text.slice(0, at), ...splitParts(text.slice(at + 1))];
};

/** An opening brace that has its closing one. */
const firstPair = (text: string): { readonly open: number; readonly close: number } | undefined => {
  for (let open = find(text, 0, '{'); open !== -1; open = find(text, open + 1, '{')) {
    const close = find(text, open + 1, '}');
    if (close !== -1) return { open, close };
  }
  return undefined;
};

/** The words that bash makes of one word by its braces, as source text; undefined when they are too many. */
export const expandBraces = (text: string): readonly string[] | undefined => {
  const pair = firstPair(text);
  if (pair === undefined) return [text];
  const inside = text.slice(pair.open + 1, pair.close);
  const rest = text.slice(pair.close + 1);
  const isRange = !hasComma(inside);
  const middles = isRange ? [range(inside)] : splitParts(inside).map(expandBraces);
  const ends = expandBraces(rest);
  if (ends === undefined || middles.includes(undefined)) return undefined;
  const all = middles.flatMap((each) => each ?? []);
  if (all.length * ends.length > maxResults) return undefined;
  return all.flatMap((middle) => ends.map((end) => text.slice(0, pair.open) + middle + end));
};

const maxRange = 64;

/** Cuts at commas that stand in no inner brace and in no quotes. */
const splitAtCommas = (text: string): readonly string[] => {
  const out: string[] = [];
  let depth = 0;
  let quote = '';
  let start = 0;
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i] ?? '';
    if (quote !== '') {
      if (char === '\\' && quote === '"') i += 1;
      else if (char === quote) quote = '';
    } else if (char === '\\') i += 1;
    else if (char === "'" || char === '"') quote = char;
    else if (char === '{' || char === '(') depth += 1;
    else if (char === '}' || char === ')') depth -= 1;
    else if (char === ',' && depth === 0) {
      out.push(text.slice(start, i));
      start = i + 1;
    }
  }
  return [...out, text.slice(start)];
};

const range = (text: string): readonly string[] | undefined => {
  const match = /^(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?$/.exec(text);
  if (match === null) return undefined;
  const numeric = /\d/.test(match[1] ?? '');
  const value = (end: string | undefined): number => (numeric ? Number(end) : (end?.codePointAt(0) ?? 0));
  const [from, to, step] = [value(match[1]), value(match[2]), Math.abs(Number(match[3] ?? 1)) || 1];
  const count = Math.floor(Math.abs(to - from) / step) + 1;
  if (!Number.isFinite(count) || count > maxRange) return undefined;
  return Array.from({ length: count }, (_, i) => {
    const each = from + i * step * Math.sign(to - from || 1);
    return numeric ? String(each) : String.fromCodePoint(each);
  });
};

/** What `{a,b}` or `{1..3}` becomes, as source text; undefined when it is too much or no such thing. */
export const braceAlternatives = (text: string): readonly string[] | undefined => {
  const inside = text.slice(1, -1);
  const parts = splitAtCommas(inside);
  if (parts.length > 1) return parts.length <= maxRange ? parts : undefined;
  return range(inside);
};

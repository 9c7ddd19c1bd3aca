/** Discord's rules for running text, as its clients apply them. The first that fits wins. */
const rules: readonly { readonly pattern: RegExp; shown(match: RegExpExecArray): string }[] = [
  { pattern: /^```(?:([a-z0-9_+\-.#]+?)\n)?\n*([^\n][\s\S]*?)\n*```/i, shown: (match) => match[2] ?? '' },
  { pattern: /^\\([^0-9A-Za-z\s])/, shown: (match) => match[1] ?? '' },
  { pattern: /^(`+)([\s\S]*?[^`])\1(?!`)/, shown: (match) => match[2]?.replace(/^ (?=`)|(?<=`) $/g, '') ?? '' },
  { pattern: /^<(https?:\/\/[^\s>]+)>/, shown: (match) => match[1] ?? '' },
  { pattern: /^(https?:\/\/[^\s<]+[^<.,:;"'\]\s)])/, shown: (match) => match[1] ?? '' },
  { pattern: /^\[((?:\\.|[^[\]\\])+)\]\(\s*<?(https?:\/\/[^\s)>]+)>?\s*\)/, shown: (match) => shownText(match[1] ?? '') },
  { pattern: /^\*\*((?:\\[\s\S]|[^\\])+?)\*\*(?!\*)/, shown: (match) => shownText(match[1] ?? '') },
  { pattern: /^__((?:\\[\s\S]|[^\\])+?)__(?!_)/, shown: (match) => shownText(match[1] ?? '') },
  { pattern: /^\b_((?:__|\\[\s\S]|[^\\_])+?)_\b/, shown: (match) => shownText(match[1] ?? '') },
  { pattern: /^\*(?=\S)((?:\*\*|\\[\s\S]|\s+(?:\\[\s\S]|[^\s*\\]|\*\*)|[^\s*\\])+?)\*(?!\*)/, shown: (match) => shownText(match[1] ?? '') },
  { pattern: /^~~([\s\S]+?)~~(?!_)/, shown: (match) => shownText(match[1] ?? '') },
  { pattern: /^\|\|([\s\S]+?)\|\|/, shown: (match) => shownText(match[1] ?? '') },
];

/** Rules that hold where a line begins. */
const lineRules: readonly { readonly pattern: RegExp; shown(match: RegExpExecArray): string }[] = [
  { pattern: /^ *> /, shown: () => '' },
  { pattern: /^ *#{1,3} +/, shown: () => '' },
  { pattern: /^ *-# +/, shown: () => '' },
  { pattern: /^( *)[-*] +/, shown: (match) => `${match[1] ?? ''}• ` },
];

/** The words that people see, markup applied and gone. */
export const shownText = (source: string): string => {
  let shown = '';
  for (let at = 0; at < source.length; ) {
    const rest = source.slice(at);
    const isLineStart = at === 0 || source[at - 1] === '\n';
    const found = [...(isLineStart ? lineRules : []), ...rules].map(({ pattern, shown: print }) => ({ match: pattern.exec(rest), print })).find(({ match }) => match !== null);
    if (found?.match == null) {
      shown += source[at];
      at += 1;
      continue;
    }
    shown += found.print(found.match);
    at += found.match[0].length;
  }
  return shown;
};

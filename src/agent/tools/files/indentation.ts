const indentOf = (line: string): string => /^[ \t]*/.exec(line)?.[0] ?? '';
const isBlank = (line: string): boolean => line.trim() === '';

/** What each indentation of a quoted block is in the file; nothing when one of them stands for two, so that no rule can be read off. */
export const indentationRule = (quoted: readonly string[], inFile: readonly string[]): ReadonlyMap<string, string> | undefined => {
  const rule = new Map<string, string>();
  for (const [index, line] of quoted.entries()) {
    if (isBlank(line)) continue;
    const from = indentOf(line);
    const to = indentOf(inFile[index] ?? '');
    if ((rule.get(from) ?? to) !== to) return undefined;
    rule.set(from, to);
  }
  return rule;
};

const translate = (indent: string, rule: ReadonlyMap<string, string>): string => {
  const exact = rule.get(indent);
  if (exact !== undefined) return exact;
  const outer = [...rule.keys()].filter((known) => indent.startsWith(known)).toSorted((a, b) => b.length - a.length)[0];
  if (outer !== undefined) return (rule.get(outer) ?? '') + indent.slice(outer.length);
  const shift = [...rule].find(([from, to]) => to.endsWith(from));
  return shift === undefined ? indent : shift[1].slice(0, shift[1].length - shift[0].length) + indent;
};

/** A block of new text with its lines moved as the rule says. */
export const reindent = (text: string, rule: ReadonlyMap<string, string>): string =>
  text
    .split('\n')
    .map((line) => (isBlank(line) ? line : translate(indentOf(line), rule) + line.slice(indentOf(line).length)))
    .join('\n');

const fenceLine = /^[ \t]*(?:`{3,}|~{3,})/;

const isInFence = (lines: readonly string[]): boolean => lines.filter((line) => fenceLine.test(line)).length % 2 === 1;

const count = (text: string, part: string): number => text.split(part).length - 1;

/** Closes what the last line has opened. A marker without anything behind it is left out until there is. */
const closeLine = (line: string): string => {
  const linked = line.replace(/(?<![\w\])])!?\[([^\]]*)(?:\](?:\([^)\s]*)?)?$/, '$1');
  if (count(linked, '`') % 2 === 1) return linked.endsWith('`') ? linked.slice(0, -1) : `${linked}\``;
  const trimmed = linked.replace(/(?<=^|[\s(])(?:\*{1,3}|_{1,3}|~{1,2})$/, '');
  const outsideCode = trimmed.replaceAll(/`[^`]*`/g, '');
  const closers = ['**', '~~'].filter((marker) => count(outsideCode, marker) % 2 === 1);
  if (closers.length === 0) return trimmed;
  const end = trimmed.trimEnd();
  const half = /(?<![*~])[*~]$/.exec(end)?.[0] ?? '';
  return closers.reduce((text, marker) => `${half === marker[0] ? text.slice(0, -1) : text}${marker}`, end);
};

/** Markdown that is still being written, made whole, so that no half-written marker flashes up before its other half comes. */
export const completeMarkdown = (text: string): string => {
  const lines = text.split('\n');
  if (isInFence(lines)) return text;
  const last = lines.pop() ?? '';
  return [...lines, closeLine(last)].join('\n');
};

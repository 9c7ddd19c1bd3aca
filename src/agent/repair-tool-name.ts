const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** Without what some models put in front: `functions.`, `default_api:`, `tools/`. */
const bare = (name: string): string => name.slice(Math.max(name.lastIndexOf('.'), name.lastIndexOf(':'), name.lastIndexOf('/')) + 1);

/**
 * The tool that a misspelt name can only mean: it differs in case, in separators or by a prefix, and fits exactly one tool. Never a guess between
 * two, and never a name that is merely similar.
 */
export const repairToolName = (name: string, known: readonly string[]): string | undefined => {
  for (const candidate of [name, bare(name)]) {
    const wanted = plain(candidate);
    const fitting = wanted === '' ? [] : known.filter((each) => plain(each) === wanted);
    if (fitting.length === 1) return fitting[0];
  }
  return undefined;
};

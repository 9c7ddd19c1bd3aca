import type { Reach } from '../commands/reach.ts';

/** What was allowed for good is written down where the owner sees it, behind what stands there already. Answers what went wrong. */
export const keepAlways = async (change: Reach['changeSetting'], known: readonly string[], patterns: readonly string[]): Promise<string | undefined> => {
  if (change === undefined) return 'the configuration is not this process’s to write';
  for (const pattern of patterns.filter((each) => !known.includes(each))) {
    const problem = await change('command_allowlist.-', pattern);
    if (problem !== undefined) return problem;
  }
  return undefined;
};

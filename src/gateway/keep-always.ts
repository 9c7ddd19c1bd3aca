import type { Reach } from '../commands/reach.ts';

/** What was allowed for good is written down where the owner sees it. Answers what went wrong. */
export const keepAlways = async (change: Reach['changeSetting'], known: readonly string[], patterns: readonly string[]): Promise<string | undefined> => {
  if (change === undefined) return 'the configuration is not this process’s to write';
  const fresh = patterns.filter((pattern) => !known.includes(pattern));
  if (known.length === 0) return fresh.length === 0 ? undefined : change('command_allowlist', JSON.stringify(fresh));
  // One by one behind the others, so that what is written beside them stays.
  for (const [i, pattern] of fresh.entries()) {
    const problem = await change(`command_allowlist.${known.length + i}`, pattern);
    if (problem !== undefined) return problem;
  }
  return undefined;
};

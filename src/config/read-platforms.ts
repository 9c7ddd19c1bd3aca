import { isPlainKey, problemAt } from './problem.ts';
import type { Problem } from './problem.ts';
import { readAccounts, unknownPlatform } from './read-accounts.ts';
import type { AccountReading, DisabledAccount, PlatformFacts } from './read-accounts.ts';
import type { Layout } from './text/layout.ts';
import type { MisspeltVariable } from './upkeep/misspelt-variables.ts';
import type { Variables } from './variables.ts';

export interface PlatformReadings {
  readonly accounts: readonly AccountReading[];
  /** Mistakes about accounts of which nothing else is known. */
  readonly nameless: readonly DisabledAccount[];
}

/** All accounts of all platforms. Mistakes that were made about an account elsewhere (its variables, the name of its platform) are charged to it. */
export const readPlatforms = (layout: Layout, platforms: readonly PlatformFacts[], sources: { readonly variables: Variables; readonly misspelt: readonly MisspeltVariable[] }): PlatformReadings => {
  const names = platforms.map(({ name }) => name);
  const charges = new Map<string, Problem[]>();
  const nameless: DisabledAccount[] = [];
  const charge = (platform: string, problem: Problem): void => {
    charges.set(platform, [...(charges.get(platform) ?? []), problem]);
  };
  for (const { platform, certain, problem } of sources.misspelt) if (certain && platform !== undefined) charge(platform, problem);
  for (const [name, entries] of layout.platforms) {
    const [entry] = entries;
    if (entry === undefined || names.includes(name)) continue;
    const { problem, meant } = unknownPlatform(name, entry, names);
    const shown = isPlainKey(name) ? name : '(…)';
    if (meant !== undefined && !layout.platforms.has(meant)) charge(meant, problem);
    else nameless.push({ account: shown, platform: shown, problems: [problem] });
  }
  const accounts = platforms.flatMap((platform) => readAccounts(platform, layout.platforms.get(platform.name) ?? [], sources.variables));
  for (const [platform, problems] of charges) {
    if (!accounts.some(({ account }) => account === platform)) nameless.push({ account: platform, platform, problems });
  }
  const charged = accounts.map((reading) => breakWith(reading, charges.get(reading.account) ?? []));
  return { accounts: refuseSharedCredentials(charged, platforms), nameless };
};

const breakWith = (reading: AccountReading, problems: readonly Problem[]): AccountReading => {
  if (problems.length === 0 || reading.outcome.state === 'off') return reading;
  const earlier = reading.outcome.state === 'broken' ? reading.outcome.problems : [];
  return { ...reading, outcome: { ...(reading.outcome.state === 'broken' && reading.outcome), state: 'broken', problems: [...earlier, ...problems] } };
};

/** Two connections with one credential steal each other's messages; the first keeps it. */
const refuseSharedCredentials = (accounts: readonly AccountReading[], platforms: readonly PlatformFacts[]): readonly AccountReading[] => {
  const owners = new Map<string, string>();
  return accounts.map((reading) => {
    if (reading.outcome.state !== 'ready') return reading;
    const credential = platforms.find(({ name }) => name === reading.platform)?.credential(reading.outcome.config.options);
    if (credential === undefined) return reading;
    const key = JSON.stringify([reading.platform, credential]);
    const owner = owners.get(key);
    if (owner === undefined) {
      owners.set(key, reading.account);
      return reading;
    }
    const at = reading.node?.at ?? { kind: 'default' };
    return breakWith(reading, [problemAt(at, reading.path, { code: 'conflict', message: `uses the same credential as the account ${owner}` })]);
  });
};

import { problemAt } from '../problem.ts';
import type { Problem } from '../problem.ts';
import { accountSchema } from '../read-accounts.ts';
import type { PlatformFacts } from '../read-accounts.ts';
import { settingsOf, variableName } from '../schema.ts';
import type { SettingFacts } from '../schema.ts';
import { sourceEndings } from '../secrets/secret-source.ts';
import type { Section } from '../section.ts';
import { distance } from '../settings/nearest.ts';
import type { Variables } from '../variables.ts';

interface KnownVariable {
  readonly platform: string | undefined;
  readonly secret: boolean;
}

/** Every variable that stands in for a setting, with the platform it belongs to, and those that say where a secret is. */
export const knownVariables = (sections: readonly Section[], platforms: readonly PlatformFacts[]): ReadonlyMap<string, KnownVariable> => {
  const known = new Map<string, KnownVariable>();
  const add = ({ env, secret }: SettingFacts, platform: string | undefined): void => {
    if (env === undefined) return;
    const name = variableName(env, platform);
    known.set(name, { platform, secret });
    if (secret) for (const { variable } of sourceEndings) known.set(`${name}${variable}`, { platform, secret: false });
  };
  for (const { schema } of sections) for (const { facts } of settingsOf(schema)) add(facts, undefined);
  for (const platform of platforms) for (const { facts } of settingsOf(accountSchema(platform))) add(facts, platform.name);
  return known;
};

export interface MisspeltVariable {
  readonly platform: string | undefined;
  /** `.env` is ours, so a near miss there is a mistake; the environment belongs to everybody. */
  readonly certain: boolean;
  readonly problem: Problem;
}

const firstWord = (name: string): string => name.split('_', 1)[0] ?? '';

/** Variables nobody knows that are a letter or two away from one that decides something, such as who may speak. */
export const misspeltVariables = (variables: Variables, known: ReturnType<typeof knownVariables>): readonly MisspeltVariable[] =>
  variables.names
    .filter((name) => name.includes('_') && !known.has(name))
    .flatMap((name) => {
      // The short words first: most candidates end there, and whole names are ten times the work.
      const close = [...known.keys()].find(
        (candidate) => Math.abs(candidate.length - name.length) <= 2 && distance(firstWord(candidate), firstWord(name)) <= 1 && distance(candidate, name) <= 2,
      );
      const origin = variables.get(name)?.origin;
      if (close === undefined || origin === undefined) return [];
      const problem = problemAt(origin, [], { code: 'unknown_key', message: 'unknown variable', suggestion: close });
      return [{ platform: known.get(close)?.platform, certain: origin.file !== undefined, problem }];
    });

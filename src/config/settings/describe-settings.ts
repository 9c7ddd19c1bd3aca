import type { z } from 'zod';
import { accountOptions } from '../../platforms/account-options.ts';
import type { PlatformFacts } from '../read-accounts.ts';
import { settingsOf, typeText, variableName } from '../schema.ts';
import type { Reload, Section } from '../section.ts';

/** One row of the settings reference. */
export interface SettingDescription {
  /** `<platform>` in the path and `<PLATFORM>` in the variable stand for any platform. */
  readonly path: string;
  readonly type: string;
  /** As it would be written; undefined when there is none. */
  readonly default: string | undefined;
  readonly required: boolean;
  readonly variable: string | undefined;
  readonly secret: boolean;
  readonly aliases: readonly string[];
  readonly description: string;
  readonly reload: Reload;
}

/** Everything that can be configured, from the schemas alone: sections, then what every account has, then each platform's own. */
export const describeSettings = (sections: readonly Section[], platforms: readonly PlatformFacts[]): readonly SettingDescription[] => [
  ...sections.flatMap(({ name, schema, reload }) => describe(schema, { path: [name], reload })),
  ...describe(accountOptions, { path: ['platforms', '<platform>'], reload: 'live' }),
  ...platforms.flatMap(({ name, options }) => describe(options, { path: ['platforms', name], reload: 'live', platform: name })),
];

const describe = (schema: z.ZodType, place: { readonly path: readonly string[]; readonly reload: Reload; readonly platform?: string }): SettingDescription[] =>
  [...settingsOf(schema, place.path)].map(({ path, schema: setting, facts }) => ({
    path: path.join('.'),
    type: typeText(setting),
    default: facts.default === undefined ? undefined : JSON.stringify(facts.default.value),
    required: !facts.optional,
    variable: facts.env === undefined ? undefined : variableName(facts.env, place.platform),
    secret: facts.secret,
    aliases: facts.aliases,
    description: facts.description ?? '',
    reload: place.reload,
  }));

import { factsOf, settingsOf, typeText } from '../../config/schema.ts';
import type { SettingFacts } from '../../config/schema.ts';
import { platformOf } from '../../core/ids.ts';
import type { Platform } from '../../platforms/contract.ts';
import type { Change } from './draft.ts';
import type { Draft } from './draft.ts';

/** One setting of a platform, as a person is asked for it. */
export interface AccountSetting {
  /** Below the account's block. */
  readonly key: string;
  readonly about: string;
  readonly kind: 'text' | 'yes-no' | 'choice' | 'list';
  /** Of a `choice`. */
  readonly choices: readonly string[];
  readonly type: string;
  readonly isSecret: boolean;
  readonly isRequired: boolean;
}

const kindOf = (facts: SettingFacts): AccountSetting['kind'] => {
  switch (facts.core._zod.def.type) {
    case 'boolean':
      return 'yes-no';
    case 'enum':
      return 'choice';
    case 'array':
      return 'list';
    default:
      return 'text';
  }
};

const choicesOf = (facts: SettingFacts): readonly string[] => {
  const { def } = facts.core._zod;
  return def.type === 'enum' ? Object.values(def.entries).map(String) : [];
};

/** Everything that a platform lets its accounts set, in the order of its schema. */
export const accountSettings = (platform: Platform): readonly AccountSetting[] =>
  [...settingsOf(platform.options)].map(({ path, schema, facts }) => ({
    key: path.join('.'),
    about: factsOf(schema).description ?? path.join('.'),
    kind: kindOf(facts),
    choices: choicesOf(facts),
    type: typeText(schema),
    isSecret: facts.secret,
    isRequired: !facts.optional,
  }));

/** The block of an account in config.yaml. */
export const accountPath = (account: string): string => {
  const platform = platformOf(account);
  return account === platform ? `platforms.${platform}` : `platforms.${platform}.accounts.${account.slice(platform.length + 1)}`;
};

/** The variable for a secret that has none of its own. */
const ownVariable = (account: string, key: string): string => `${account}_${key}`.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');

/** A list may be written with commas. */
const written = (setting: AccountSetting, typed: string): string => {
  if (setting.kind !== 'list' || typed.startsWith('[')) return typed;
  return JSON.stringify(typed.split(',').map((part) => part.trim()).filter((part) => part !== ''));
};

/** What has to change for a setting to have this value. A secret never gets into config.yaml: without a variable of its own it is given one. */
export const settingChange = (draft: Draft, place: { readonly account: string; readonly setting: AccountSetting }, typed: string): Change => {
  const { account, setting } = place;
  const path = `${accountPath(account)}.${setting.key}`;
  if (!setting.isSecret || /^\$\{\w+\}$/.test(typed) || draft.variableOf(path) !== undefined) return { path, value: written(setting, typed) };
  const variable = ownVariable(account, setting.key);
  return { path, value: `\${${variable}}`, keep: { name: variable, value: typed, comment: `${setting.about} (${account})` } };
};

import { z } from 'zod';
import { accountName } from '../core/ids.ts';
import type { AccountName } from '../core/ids.ts';
import { accountOptions } from '../platforms/account-options.ts';
import type { AccountOptions } from '../platforms/account-options.ts';
import type { Platform } from '../platforms/contract.ts';
import { isPlainKey, problemAt, writtenPath } from './problem.ts';
import type { Origin, Problem, SettingPath } from './problem.ts';
import { isLoose, settingsOf, variableName } from './schema.ts';
import { nearest } from './settings/nearest.ts';
import { checkSetting, onePerSetting, settleSetting } from './settings/read-setting.ts';
import type { ReadContext } from './settings/read-setting.ts';
import { emptyMap } from './settings/setting-node.ts';
import type { MapEntry, MapNode, SettingNode } from './settings/setting-node.ts';
import { renameAliases } from './settings/settle.ts';
import type { Variables } from './variables.ts';

/** What the configuration has to know about a platform. */
export type PlatformFacts = Pick<Platform, 'name' | 'options' | 'alwaysOn' | 'credential' | 'canonicalId'>;

/** An account that can run. */
export interface AccountConfig {
  readonly account: AccountName;
  readonly platform: string;
  readonly common: AccountOptions;
  /** Parsed by the platform's own schema. */
  readonly options: unknown;
}

/** An account that cannot run for what was written about it; nothing else is affected. */
export interface DisabledAccount {
  readonly account: AccountName;
  readonly platform: string;
  readonly problems: readonly Problem[];
  /** The gateway is ready without it. */
  readonly isOptional?: true;
}

/** What was written about an account, whether it runs or not. */
export interface AccountReading {
  readonly account: AccountName;
  readonly platform: string;
  readonly path: SettingPath;
  readonly schema: z.ZodObject;
  readonly node: SettingNode | undefined;
  readonly outcome: { readonly state: 'ready'; readonly config: AccountConfig } | { readonly state: 'off' } | ({ readonly state: 'broken' } & Pick<DisabledAccount, 'problems' | 'isOptional'>);
}

/** Everything that may stand in an account's block. */
export const accountSchema = (platform: PlatformFacts): z.ZodObject => {
  const shape = { ...platform.options.shape, ...accountOptions.shape };
  return isLoose(platform.options) ? z.looseObject(shape) : z.object(shape);
};

interface Block {
  /** Undefined for the default account. */
  readonly name: string | undefined;
  readonly path: SettingPath;
  readonly map: MapNode;
  readonly problems: readonly Problem[];
}

/** Reads all accounts of one platform. A mistake in one account is that account's. */
export const readAccounts = (platform: PlatformFacts, written: readonly MapEntry[], variables: Variables): readonly AccountReading[] => {
  const schema = accountSchema(platform);
  const path = ['platforms', platform.name];
  const outer = written
    .filter(({ value }) => !isNothing(value))
    .map((entry) => readBlock(entry, schema, { name: undefined, path }))
    .reduce<Block | undefined>(mergeBlocks, undefined);
  const further = outer?.map.entries.get('accounts');
  const own = outer === undefined ? undefined : { ...outer, map: without(outer.map, 'accounts') };
  const first = defaultBlock(platform, own, { shared: further !== undefined, variables });
  const blocks = [...(first === undefined ? [] : [first]), ...(further === undefined ? [] : furtherBlocks(further, schema, path))];
  const context: ReadContext = { variables, overlay: true, platform: platform.name, path };
  const allOff = own !== undefined && isOff(own, schema, context);
  return blocks.map((block) => {
    const reading = readAccount(platform, block, { ...context, overlay: block.name === undefined, path: block.path });
    return allOff ? { ...reading, outcome: { state: 'off' } } : reading;
  });
};

const isNothing = (node: SettingNode): boolean => node.kind === 'scalar' && node.value === null;

/** `enabled` beside `accounts` speaks of the platform as a whole and makes no account by itself. */
const defaultBlock = (platform: PlatformFacts, own: Block | undefined, facts: { shared: boolean; variables: Variables }): Block | undefined => {
  const isWritten = own !== undefined && (own.problems.length > 0 || !facts.shared || [...own.map.entries.keys()].some((key) => key !== 'enabled'));
  if (!isWritten && !platform.alwaysOn && !hasCredential(platform, facts.variables)) return undefined;
  return own ?? { name: undefined, path: ['platforms', platform.name], map: emptyMap({ kind: 'default' }), problems: [] };
};

/** Whether the environment holds what the platform logs in with: a secret of its own, or for a platform without secrets any of its variables. */
const hasCredential = (platform: PlatformFacts, variables: Variables): boolean => {
  const own = [...settingsOf(platform.options)].filter(({ facts }) => facts.env !== undefined);
  const secrets = own.filter(({ facts }) => facts.secret);
  return (secrets.length > 0 ? secrets : own).some(({ facts }) => facts.env !== undefined && variables.has(variableName(facts.env, platform.name)));
};

const without = (map: MapNode, key: string): MapNode => ({ ...map, entries: new Map([...map.entries].filter(([name]) => name !== key)) });

/** Puts the keys of `extra` beside it; a key in both places counts where it stands outside. */
const readBlock = (entry: MapEntry, schema: z.ZodObject, place: Pick<Block, 'name' | 'path'>): Block => {
  const problems: Problem[] = [];
  const at: Origin = entry.keyAt;
  const complain = (node: SettingNode, path: SettingPath): void => {
    problems.push(problemAt(node.at, writtenPath(node.at, path), { code: 'invalid', message: 'must be a mapping' }));
  };
  if (entry.value.kind !== 'map') {
    if (!isNothing(entry.value)) complain(entry.value, place.path);
    return { ...place, map: emptyMap(at), problems };
  }
  const outer = renameAliases(without(entry.value, 'extra'), schema, problems);
  const extra = entry.value.entries.get('extra')?.value;
  if (extra !== undefined && extra.kind !== 'map' && !isNothing(extra)) complain(extra, [...place.path, 'extra']);
  const inner = extra?.kind === 'map' ? renameAliases(extra, schema, problems) : emptyMap(at);
  return { ...place, map: { ...outer, entries: new Map([...inner.entries, ...outer.entries]) }, problems };
};

const mergeBlocks = (first: Block | undefined, second: Block): Block =>
  first === undefined
    ? second
    : { ...first, map: { ...first.map, entries: new Map([...second.map.entries, ...first.map.entries]) }, problems: [...first.problems, ...second.problems] };

/** Names become part of session keys (`telegram@work`), so they are plain words. */
const accountWord = /^[A-Za-z0-9_-]{1,32}$/;

const furtherBlocks = (accounts: MapEntry, schema: z.ZodObject, path: SettingPath): Block[] => {
  const place = [...path, 'accounts'];
  if (isNothing(accounts.value)) return [];
  if (accounts.value.kind !== 'map') {
    const problem = problemAt(accounts.value.at, writtenPath(accounts.keyAt, place), { code: 'invalid', message: 'must be a mapping of names to accounts' });
    return [{ name: 'accounts', path: place, map: emptyMap(accounts.keyAt), problems: [problem] }];
  }
  return [...accounts.value.entries].map(([name, entry]) => {
    const block = readBlock(entry, schema, { name, path: [...place, name] });
    if (accountWord.test(name) && name !== 'default') return block;
    const message = name === 'default' ? 'the default account has no name: put its keys directly below the platform' : 'must be named with letters, digits, - and _ (at most 32)';
    return { ...block, name: isPlainKey(name) ? name : '(…)', problems: [...block.problems, problemAt(entry.keyAt, block.path, { code: 'invalid', message })] };
  });
};

const isOff = (block: Block, schema: z.ZodObject, context: ReadContext): boolean => {
  const enabled = block.map.entries.get('enabled');
  if (enabled === undefined) return false;
  const only: MapNode = { ...block.map, entries: new Map([['enabled', enabled]]) };
  const { node } = settleSetting(only, schema.pick({ enabled: true }), { ...context, overlay: false });
  const value = node?.kind === 'map' ? node.entries.get('enabled')?.value : undefined;
  return value?.kind === 'scalar' && value.value === false;
};

const peopleLists = ['allowed_users', 'group_allowed_users', 'allow_admin_from', 'group_allow_admin_from'] as const satisfies readonly (keyof AccountOptions)[];

/** People are compared by their ids, so the lists have the spelling that events have. */
const inOneSpelling = (platform: PlatformFacts, common: AccountOptions): AccountOptions => {
  const lists = peopleLists.flatMap((key) => (common[key] === undefined ? [] : [[key, common[key].map((id) => platform.canonicalId?.(id) ?? id)] as const]));
  return { ...common, ...Object.fromEntries(lists) };
};

const readAccount = (platform: PlatformFacts, block: Block, context: ReadContext): AccountReading => {
  const schema = accountSchema(platform);
  const account = accountName(platform.name, block.name);
  const settled = settleSetting(block.map, schema, context);
  const reading = { account, platform: platform.name, path: block.path, schema, node: settled.node };
  if (isOff(block, schema, context)) return { ...reading, outcome: { state: 'off' } };
  const common = checkSetting(only(settled.node, accountOptions), accountOptions, context);
  const options = checkSetting(only(settled.node, platform.options), platform.options, context);
  const problems = onePerSetting([...block.problems, ...settled.problems, ...(common.ok ? [] : common.problems), ...(options.ok ? [] : options.problems)]);
  if (problems.length > 0 || !common.ok || !options.ok) return { ...reading, outcome: { state: 'broken', problems, ...(common.ok && !common.value.required && { isOptional: true }) } };
  return { ...reading, outcome: { state: 'ready', config: { account, platform: platform.name, common: inOneSpelling(platform, common.value), options: options.value } } };
};

/** The part of an account's block that one of its two schemas knows. */
const only = (node: SettingNode | undefined, schema: z.ZodObject): SettingNode | undefined => {
  if (node?.kind !== 'map') return node;
  return { ...node, entries: new Map([...node.entries].filter(([key]) => Object.hasOwn(schema.shape, key))) };
};

/** A block whose platform does not exist. A near miss also stops the platform that was meant: its settings are the ones that are missing. */
export const unknownPlatform = (name: string, entry: MapEntry, known: readonly string[]): { readonly problem: Problem; readonly meant: string | undefined } => {
  const meant = isPlainKey(name) ? nearest(name, known) : undefined;
  const problem = problemAt(entry.keyAt, writtenPath(entry.keyAt, ['platforms', name]), { code: 'unknown_key', message: 'unknown platform', suggestion: meant });
  return { problem, meant };
};

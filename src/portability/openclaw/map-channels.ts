import { at, isRecord } from '../plain-json.ts';
import type { Plain } from '../plain-json.ts';
import { bareId, channels } from './channels.ts';
import type { ChannelFacts } from './channels.ts';
import type { Mapping } from './mapping.ts';
import { leave } from './mapping.ts';
import { secretIn } from './secret-in.ts';

interface Account {
  readonly channel: string;
  readonly facts: ChannelFacts;
  /** Undefined for the default account. */
  readonly name: string | undefined;
  readonly options: Plain;
}

const pathOf = ({ channel, name }: Account): string => (name === undefined ? `channels.${channel}` : `channels.${channel}.accounts.${name}`);

const peopleIn = (mapping: Mapping, account: Account, key: string): readonly string[] => {
  const written = account.options[key] ?? (key === 'allowFrom' ? at(account.options, 'dm', 'allowFrom') : undefined);
  if (!Array.isArray(written)) return [];
  const ids = [...new Set(written.map((id) => bareId(account.channel, String(id))).filter((id) => id !== ''))];
  if (ids.includes('*')) leave(mapping, `${pathOf(account)}.${key}: "*"`, `letting everybody in has a switch of its own here: platforms.${account.channel}.allow_all_users`);
  const names = ids.filter((id) => id !== '*' && !account.facts.person.test(id));
  if (names.length > 0) leave(mapping, `${pathOf(account)}.${key}: ${names.join(', ')}`, 'people are let in by their ids here, never by names');
  return ids.filter((id) => account.facts.person.test(id));
};

/** Places with settings of their own: groups, or the channels of servers. */
const placesIn = (options: Plain): readonly (readonly [string, Plain])[] => {
  const guilds = isRecord(options['guilds']) ? Object.values(options['guilds']) : [];
  return [options['groups'], options['channels'], ...guilds.map((guild) => at(guild, 'channels'))].flatMap((places) => (isRecord(places) ? Object.entries(places).filter((entry): entry is [string, Plain] => isRecord(entry[1])) : []));
};

/** OpenClaw answers in groups when it is mentioned, unless it is told otherwise. */
const mentionsOf = ({ facts, options }: Account): Plain => {
  const places = placesIn(options);
  const everywhere = options['requireMention'] ?? at(options, 'groups', '*', 'requireMention') ?? at(options, 'guilds', '*', 'requireMention');
  const free = places.filter(([id, place]) => id !== '*' && place['requireMention'] === false).map(([id]) => id);
  return { require_mention: everywhere !== false, ...(free.length > 0 && { [facts.free]: free }) };
};

const credentialsOf = (mapping: Mapping, account: Account): Plain => {
  const found: Record<string, string> = {};
  for (const { there, here, variable } of account.facts.credentials) {
    const secret = secretIn(account.options[there], mapping.variables);
    if (secret === undefined) continue;
    if (secret === 'elsewhere') leave(mapping, `${pathOf(account)}.${there}`, account.name === undefined ? `the secret is kept elsewhere; put it into .env as ${variable}` : `the secret is kept elsewhere; set platforms.${account.channel}.accounts.${account.name}.${here}`);
    else if (account.name === undefined) mapping.env.set(variable, secret);
    else found[here] = secret;
  }
  return found;
};

const places = ['groups', 'channels', 'guilds'] as const;

const settingsOf = (mapping: Mapping, account: Account): Plain => {
  const { facts, options } = account;
  const [people, inGroups] = [peopleIn(mapping, account, 'allowFrom'), peopleIn(mapping, account, 'groupAllowFrom')];
  const used = new Set([...facts.credentials.map(({ there }) => there), ...Object.keys(facts.settings), 'allowFrom', 'groupAllowFrom', 'dm', 'enabled', 'dmPolicy', 'accounts', 'defaultAccount', 'requireMention', 'name', ...places, ...Object.keys(facts.anew ?? {})]);
  for (const [key, why] of Object.entries(facts.anew ?? {})) if (options[key] !== undefined) leave(mapping, `${pathOf(account)}.${key}`, why);
  const rest = Object.keys(options).filter((key) => !used.has(key));
  if (rest.length > 0) leave(mapping, `${pathOf(account)}: ${rest.join(', ')}`, 'these have no counterpart that could be chosen for you');
  const ofPlaces = [...new Set(placesIn(options).flatMap(([, place]) => Object.keys(place)))].filter((key) => key !== 'requireMention');
  if (ofPlaces.length > 0) leave(mapping, `${pathOf(account)}, of groups: ${ofPlaces.join(', ')}`, 'of groups only whether they need a mention is taken');
  return {
    ...Object.fromEntries(Object.entries(facts.settings).flatMap(([there, here]) => (typeof options[there] === 'string' && options[there] !== '' ? [[here, options[there]]] : []))),
    ...credentialsOf(mapping, account),
    ...(people.length > 0 && { allowed_users: people }),
    ...(inGroups.length > 0 && { group_allowed_users: inGroups }),
    ...mentionsOf(account),
    ...(options['enabled'] === false && { enabled: false }),
  };
};

const hasCredential = ({ facts, options }: Account): boolean => facts.credentials.some(({ there }) => options[there] !== undefined && options[there] !== '');

const mapChannel = (mapping: Mapping, channel: string, options: Plain): Plain | undefined => {
  const facts = channels[channel];
  if (facts === undefined) {
    leave(mapping, `channels.${channel}`, 'there is no such platform here, or it is set up anew: hermes setup');
    return undefined;
  }
  const { accounts, ...base } = options;
  const further = isRecord(accounts) ? Object.entries(accounts).filter((entry): entry is [string, Plain] => isRecord(entry[1])) : [];
  const all = [['default', {}] as const, ...further].map(([name, own]): Account => ({ channel, facts, name: name === 'default' ? undefined : name.toLowerCase(), options: { ...base, ...own } }));
  const plain = all.findLast(({ name }) => name === undefined);
  const named = all.flatMap((account) => (account.name === undefined ? [] : [[account.name, settingsOf(mapping, account)] as const]));
  const isThere = plain !== undefined && (hasCredential(plain) || named.length === 0);
  return { ...(isThere && settingsOf(mapping, plain)), ...(named.length > 0 && { accounts: Object.fromEntries(named) }) };
};

/** Accounts with their credentials and the people who may speak. */
export const mapChannels = (mapping: Mapping, root: Plain): void => {
  const written = at(root, 'channels');
  if (!isRecord(written)) return;
  const mapped = Object.entries(written).flatMap(([channel, options]) => {
    const settings = isRecord(options) && channel !== 'defaults' ? mapChannel(mapping, channel, options) : undefined;
    return settings === undefined || Object.keys(settings).length === 0 ? [] : [[channel, settings] as const];
  });
  if (mapped.length > 0) mapping.settings['platforms'] = Object.fromEntries(mapped);
};

import { parseTarget } from '../core/target.ts';
import type { Platform } from '../platforms/contract.ts';
import { listChannels } from '../store/accounts/channels.ts';
import type { Channel, KnownChannel } from '../store/accounts/channels.ts';
import type { Reading } from '../store/store.ts';
import type { ChannelAliases } from './channel-options.ts';
import { homeOf } from './home-channel.ts';
import type { HomeDeps } from './home-channel.ts';

export interface DirectoryDeps extends HomeDeps {
  /** Every account that is configured, in the order of the configuration. */
  accounts(): readonly string[];
  aliases(): ChannelAliases;
}

/** One line of the directory: a chat, or a thread in one, and what it may be called. */
export interface Entry extends Channel {
  /** The owner's own name for it. */
  readonly alias?: string;
  /** It gets what nobody asked for. */
  readonly isHome: boolean;
  readonly spokenAtMs?: number;
}

/** Of one account; beyond that the oldest are not found by name any more. */
const mostEntries = 5_000;

/** Where nobody sits who could be written to by name: the gateway's own doors, and what closes with its answer. */
const isListed = (platform: Platform): boolean => (platform.surface ?? 'chat') === 'chat' && platform.asyncDelivery;

const isSame = (a: Channel, b: Pick<Channel, 'account' | 'chatId' | 'threadId'>): boolean => a.account === b.account && a.chatId === b.chatId && a.threadId === b.threadId;

/** The chat of an alias that nobody has spoken in yet. */
const placeholder = (account: string, platform: Platform, id: string): Channel | undefined => {
  const read = parseTarget(`${platform.name}:${id}`, [platform]);
  if (read.type !== 'chat') return undefined;
  return { account, chatId: read.chatId, chatType: platform.chatTypeOf?.(read.chatId) ?? 'dm', ...(read.threadId !== undefined && { threadId: read.threadId }) };
};

const withAliases = (channels: readonly (Channel | KnownChannel)[], of: { readonly account: string; readonly platform: Platform; readonly aliases: ChannelAliases }): readonly Omit<Entry, 'isHome'>[] => {
  const { account, platform } = of;
  const named = new Map<Channel, string>();
  const missing: Channel[] = [];
  for (const [id, alias] of Object.entries(of.aliases[account] ?? {})) {
    const place = placeholder(account, platform, id);
    const known = place === undefined ? undefined : channels.find((channel) => isSame(channel, place));
    const of = known ?? place;
    if (of !== undefined) named.set(of, alias);
    if (known === undefined && place !== undefined) missing.push(place);
  }
  return [...channels, ...missing].map((channel) => {
    const alias = named.get(channel);
    return alias === undefined ? channel : { ...channel, alias };
  });
};

const entriesOf = async (db: Reading, deps: DirectoryDeps, account: string): Promise<readonly Entry[]> => {
  const known = deps.account(account);
  if (known === undefined || !isListed(known.platform)) return [];
  const channels = await listChannels(db, { account, limit: mostEntries });
  const home = await homeOf(db, deps, account);
  const all: (Channel | KnownChannel)[] = [...channels];
  if (home !== undefined && !channels.some((channel) => isSame(channel, home))) all.push({ account, chatId: home.chatId, chatType: home.chatType, ...(home.threadId !== undefined && { threadId: home.threadId }) });
  return withAliases(all, { account, platform: known.platform, aliases: deps.aliases() }).map((channel) => ({ ...channel, isHome: home !== undefined && isSame(channel, home) }));
};

/** Every chat that can be named, account by account; of each account those that were spoken in last come first. */
export const readDirectory = async (db: Reading, deps: DirectoryDeps, account?: string): Promise<readonly Entry[]> => {
  const entries: Entry[] = [];
  for (const each of account === undefined ? deps.accounts() : [account]) entries.push(...(await entriesOf(db, deps, each)));
  return entries;
};

/** How a chat is written in a target by its id. */
export const targetText = ({ account, chatId, threadId }: Pick<Channel, 'account' | 'chatId' | 'threadId'>): string => [account, chatId, threadId].filter((part) => part !== undefined).join(':');

const ownName = (entry: Entry): string => entry.alias ?? entry.name ?? entry.threadId ?? entry.chatId;

const labelWithin = (entry: Entry, chatNames: ReadonlyMap<string, string>): string => {
  if (entry.alias !== undefined) return entry.alias;
  if (entry.threadId === undefined) return entry.scopeName === undefined ? ownName(entry) : `${entry.scopeName}/${ownName(entry)}`;
  return `${chatNames.get(`${entry.account}:${entry.chatId}`) ?? entry.chatId}/${ownName(entry)}`;
};

/** What a person reads for each: `general`, `Guild/general`, `Team/releases` for a thread, the owner's own name, or only the id. */
export const labelsOf = (all: readonly Entry[]): ReadonlyMap<Entry, string> => {
  const chatNames = new Map(all.filter(({ threadId }) => threadId === undefined).map((entry) => [`${entry.account}:${entry.chatId}`, ownName(entry)]));
  return new Map(all.map((entry) => [entry, labelWithin(entry, chatNames)]));
};

export type Found = { readonly type: 'found'; readonly entry: Entry } | { readonly type: 'ambiguous'; readonly entries: readonly Entry[] } | { readonly type: 'unknown' };

const decide = (entries: readonly Entry[]): Found | undefined => {
  const [only, ...others] = entries;
  if (only === undefined) return undefined;
  return others.length === 0 ? { type: 'found', entry: only } : { type: 'ambiguous', entries };
};

const fold = (name: string): string => name.normalize('NFKC').trim().replace(/^#/, '').toLowerCase();

/**
 * The chat that a name means, among those of one account: by its id, by a whole name (`general`, `#general`, `Guild/general`), or by the beginning of
 * a name if only one begins so. What could be several is never guessed.
 */
export const findByName = (name: string, all: readonly Entry[]): Found => {
  const wanted = fold(name);
  if (wanted === '') return { type: 'unknown' };
  const labels = labelsOf(all);
  const idOf = (entry: Entry): string => [entry.chatId, entry.threadId].filter((part) => part !== undefined).join(':');
  const own = (entry: Entry): readonly string[] => [entry.alias, entry.name].filter((each) => each !== undefined).map(fold);
  const whole = (entry: Entry): string => fold(labels.get(entry) ?? '');
  return (
    decide(all.filter((entry) => idOf(entry) === name.trim())) ??
    decide(all.filter((entry) => own(entry).includes(wanted) || whole(entry) === wanted)) ??
    decide(all.filter((entry) => own(entry).some((known) => known.startsWith(wanted)))) ??
    decide(all.filter((entry) => whole(entry).startsWith(wanted))) ?? { type: 'unknown' }
  );
};

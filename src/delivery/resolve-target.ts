import type { Target } from '../core/message.ts';
import { parseTarget } from '../core/target.ts';
import type { TargetError, TargetRef } from '../core/target.ts';
import type { Platform } from '../platforms/contract.ts';
import { findChannel } from '../store/accounts/channels.ts';
import type { Channel } from '../store/accounts/channels.ts';
import { knownTarget } from '../store/sessions/bound-places.ts';
import type { Reading } from '../store/store.ts';
import { findByName, labelsOf, readDirectory, targetText } from './directory.ts';
import type { DirectoryDeps, Entry } from './directory.ts';
import { homeOf } from './home-channel.ts';

export interface ResolveDeps extends DirectoryDeps {
  platforms(): readonly Platform[];
}

/** A place that a text names. */
export type Destination =
  /** No chat: it is only kept. */
  | { readonly type: 'local' }
  | {
      readonly type: 'chat';
      readonly target: Target;
      /** People have spoken there, the platform names it, or the owner has written it down. */
      readonly known: boolean;
    };

export interface Resolution {
  /** Each place once, in the order in which they were written. */
  readonly destinations: readonly Destination[];
  /** What names no place, in words for whoever wrote it. Whether the others are used then is the caller's to say. */
  readonly problems: readonly string[];
}

type Outcome = readonly Destination[] | string;

interface Work {
  readonly db: Reading;
  readonly deps: ResolveDeps;
  readonly origin: Target | undefined;
}

const chat = (target: Target, known = true): readonly Destination[] => [{ type: 'chat', target, known }];

/** An answer goes to the place, not below the message that was answered there. */
const placeOf = ({ replyTo: _anchor, ...place }: Target): Target => place;

const homes = async ({ db, deps }: Work): Promise<readonly Target[]> => {
  const found: Target[] = [];
  for (const account of deps.accounts()) {
    const home = deps.account(account) === undefined ? undefined : await homeOf(db, deps, account);
    if (home !== undefined) found.push(placeOf(home));
  }
  return found;
};

const everyHome = async (work: Work): Promise<Outcome> => {
  const found = await homes(work);
  return found.length === 0 ? 'no account has a home channel; send /sethome in the chat that should be one' : found.flatMap((home) => chat(home));
};

/** Without a chat that it comes from, the only home there is gets it; of several none is guessed. */
const atOrigin = async (work: Work): Promise<Outcome> => {
  if (work.origin !== undefined) return chat(placeOf(work.origin));
  const [only, ...others] = await homes(work);
  if (only !== undefined && others.length === 0) return chat(only);
  return `there is no chat that this comes from${only === undefined ? '' : '; name one of the home channels instead'}`;
};

const atHome = async ({ db, deps, origin }: Work, account: string): Promise<Outcome> => {
  const home = await homeOf(db, deps, account);
  if (home !== undefined) return chat(placeOf(home));
  if (origin?.account === account) return chat(placeOf(origin));
  return `${account} has no home channel; send /sethome in the chat that should be it, or set platforms.${account}.home_channel`;
};

const targetOf = (entry: Channel): Target => ({
  account: entry.account,
  chatId: entry.chatId,
  chatType: entry.chatType,
  ...(entry.threadId !== undefined && { threadId: entry.threadId }),
  ...(entry.scopeId !== undefined && { scopeId: entry.scopeId }),
});

/** Somebody has spoken there, the platform names it, or the owner has written it down. */
const isKnown = async ({ db, deps }: Work, { account, chatId }: Pick<Target, 'account' | 'chatId'>): Promise<boolean> => {
  const isOwn = Object.keys(deps.aliases()[account] ?? {}).some((id) => id === chatId || id.startsWith(`${chatId}:`));
  return isOwn || (await homeOf(db, deps, account))?.chatId === chatId;
};

const byId = async (work: Work, ref: Extract<TargetRef, { type: 'chat' }>): Promise<Outcome> => {
  const { db, deps } = work;
  const { account, chatId, threadId } = ref;
  const seen = (await knownTarget(db, ref)) ?? (await findChannel(db, ref));
  const target: Target = {
    account,
    chatId,
    chatType: seen?.chatType ?? deps.account(account)?.platform.chatTypeOf?.(chatId) ?? 'dm',
    ...(threadId !== undefined && { threadId }),
    ...(seen?.scopeId !== undefined && { scopeId: seen.scopeId }),
  };
  return chat(target, seen !== undefined || (await isKnown(work, ref)));
};

const mostNamed = 5;

const listed = (entries: readonly Entry[]): string => {
  const labels = labelsOf(entries);
  const shown = entries.slice(0, mostNamed).map((entry) => `${labels.get(entry) ?? ''} (${targetText(entry)})`);
  return `${shown.join(', ')}${entries.length > mostNamed ? ` and ${entries.length - mostNamed} more` : ''}`;
};

const byName = async ({ db, deps }: Work, account: string, name: string): Promise<Outcome> => {
  const found = findByName(name, await readDirectory(db, deps, account));
  switch (found.type) {
    case 'found':
      return chat(targetOf(found.entry));
    case 'ambiguous':
      return `${JSON.stringify(name)} could be ${listed(found.entries)}; write one of the ids`;
    case 'unknown':
      return `no chat of ${account} is called ${JSON.stringify(name)}; \`hermes channels\` lists them`;
    default:
      throw found satisfies never;
  }
};

const problemOf = (error: TargetError, platforms: readonly Platform[]): string =>
  error.type === 'malformed'
    ? `${JSON.stringify(error.text)} names no place; write origin, local, all, a platform, platform:chat or platform:#name`
    : `there is no platform called ${JSON.stringify(error.platform)}; known are ${platforms.map(({ name }) => name).join(', ')}`;

const resolveOne = async (work: Work, text: string): Promise<Outcome> => {
  if (text.toLowerCase() === 'all') return everyHome(work);
  const platforms = work.deps.platforms();
  const ref = parseTarget(text, platforms);
  switch (ref.type) {
    case 'origin':
      return atOrigin(work);
    case 'local':
      return [{ type: 'local' }];
    case 'home':
    case 'chat':
    case 'name':
      break;
    case 'malformed':
    case 'unknown_platform':
      return problemOf(ref, platforms);
    default:
      throw ref satisfies never;
  }
  if (work.deps.account(ref.account) === undefined) return `the account ${ref.account} is not configured`;
  if (ref.type === 'home') return atHome(work, ref.account);
  return ref.type === 'chat' ? byId(work, ref) : byName(work, ref.account, ref.name);
};

const keyOf = (destination: Destination): string => (destination.type === 'local' ? 'local' : JSON.stringify([destination.target.account, destination.target.chatId, destination.target.threadId]));

/** A text that names places, and where the thing that is to be delivered comes from. */
export interface Written {
  readonly text: string;
  readonly origin?: Target | undefined;
}

/**
 * The places that a text names: `origin`, `local`, `all`, `<platform>`, `<platform>:<chat>[:<thread>]`, `<platform>:#name`, or several of these with
 * commas between them.
 */
export const resolveTarget = async (db: Reading, deps: ResolveDeps, { text, origin }: Written): Promise<Resolution> => {
  const found = new Map<string, Destination>();
  const problems: string[] = [];
  for (const part of text.split(',')) {
    const outcome = await resolveOne({ db, deps, origin }, part.trim());
    if (typeof outcome === 'string') problems.push(outcome);
    else for (const destination of outcome) if (!found.has(keyOf(destination))) found.set(keyOf(destination), destination);
  }
  return { destinations: [...found.values()], problems };
};

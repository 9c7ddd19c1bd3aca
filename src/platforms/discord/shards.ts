import { PlatformError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Inbox } from '../contract.ts';
import type { DiscordApi } from './api.ts';
import { findPosition, newPosition } from './position.ts';
import type { Position } from './position.ts';
import { integer, isNewer, record, text } from './wire.ts';

/** The connections of an account: each hears of its part of the servers, the first of direct chats as well. */
export interface Shards {
  /** Where a new session begins; empty when all of them are taken up again. */
  readonly url: string;
  readonly count: number;
  /** How many sessions may begin side by side. */
  readonly maxConcurrency: number;
  /** One for each connection. */
  readonly positions: readonly Position[];
}

export interface Planning {
  readonly api: DiscordApi;
  readonly inbox: Pick<Inbox, 'cursor'>;
  readonly clock: Clock;
  readonly log: Logger;
}

const countName = 'shards';

const nameOf = (index: number, count: number): string => (count === 1 ? 'session' : `session:${index}/${count}`);

/** https://discord.com/developers/docs/events/gateway#sharding */
export const shardOf = (guildId: string, count: number): number => Number((BigInt(guildId) >> 22n) % BigInt(count));

interface Advice {
  readonly url: string;
  readonly shards: number;
  readonly maxConcurrency: number;
  readonly remaining: number;
  readonly resetMs: number;
}

/** Asks where to connect, how often, and whether new sessions may begin at all. */
const askGateway = async (api: DiscordApi, signal: AbortSignal): Promise<Advice> => {
  const answer = record(await api.call({ method: 'GET', route: '/gateway/bot' }, signal));
  const url = text(answer?.['url']);
  if (url === undefined) throw new PlatformError('unavailable', 'GET /gateway/bot: the answer has no address');
  const starts = record(answer?.['session_start_limit']);
  return {
    url,
    shards: Math.max(1, integer(answer?.['shards']) ?? 1),
    maxConcurrency: Math.max(1, integer(starts?.['max_concurrency']) ?? 1),
    remaining: integer(starts?.['remaining']) ?? Number.POSITIVE_INFINITY,
    resetMs: integer(starts?.['reset_after']) ?? 60_000,
  };
};

const oldest = (positions: readonly Position[]): string | undefined => {
  const known = positions.flatMap(({ after }) => after ?? []);
  return known.length === 0 ? undefined : known.reduce((first, after) => (isNewer(first, after) ? after : first));
};

/** Servers belong to other connections than before: each begins where the one that was furthest behind had stopped. */
const divideAnew = async ({ inbox, clock }: Planning, before: readonly Position[], count: number): Promise<readonly Position[]> => {
  const positions = Array.from({ length: count }, (_, index) => newPosition(inbox.cursor, clock, { name: nameOf(index, count), after: oldest(before) }));
  for (const position of positions) await position.save();
  await inbox.cursor.write(countName, String(count));
  return positions;
};

/** Sessions that can be taken up again are; otherwise Discord says how many connections there should be, unless the owner does. */
export const planShards = async (planning: Planning, wanted: number | undefined, signal: AbortSignal): Promise<Shards> => {
  const { api, inbox, clock, log } = planning;
  const known = Math.max(1, integer(Number((await inbox.cursor.read(countName)) ?? 1)) ?? 1);
  const positions = await Promise.all(Array.from({ length: known }, (_, index) => findPosition(inbox.cursor, clock, nameOf(index, known))));
  if (positions.every(({ session }) => session !== undefined) && (wanted ?? known) === known) return { url: '', count: known, maxConcurrency: 1, positions };
  const advice = await askGateway(api, signal);
  const count = wanted ?? advice.shards;
  const divided = count === known ? positions : await divideAnew(planning, positions, count);
  const fresh = divided.filter(({ session }) => session === undefined).length;
  if (fresh > advice.remaining) throw new PlatformError('rate_limited', `${fresh} new sessions are needed and ${advice.remaining} may begin for a while`, { retryAfterMs: advice.resetMs, scope: 'account' });
  if (count !== known) log.info({ before: known, now: count }, 'discord.shards.divided');
  return { url: advice.url, count, maxConcurrency: advice.maxConcurrency, positions: divided };
};

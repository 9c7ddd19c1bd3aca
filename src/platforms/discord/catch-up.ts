import { PlatformError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Call, DiscordApi } from './api.ts';
import { patiently } from './patiently.ts';
import { isNewer, list, readMember, record, snowflake, snowflakeAt, snowflakeTimeMs, text } from './wire.ts';
import type { Json } from './wire.ts';

export interface CatchingUp {
  readonly api: DiscordApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly catchUpHours: number;
}

const pageSize = 100;

/** Messages of different channels are numbered by different machines, whose clocks differ a little. */
const overlapMs = 10_000;

const hourMs = 3600 * 1000;

/** Where to begin to ask for what was missed; undefined when nothing can have been missed. */
export const gapStart = ({ clock, log, catchUpHours }: Pick<CatchingUp, 'clock' | 'log' | 'catchUpHours'>, after: string | undefined): string | undefined => {
  if (after === undefined || catchUpHours === 0) return undefined;
  const earliestMs = clock.now() - catchUpHours * hourMs;
  const missedMs = snowflakeTimeMs(after);
  if (missedMs < earliestMs) log.info({ since: new Date(missedMs).toISOString(), hours: catchUpHours }, 'discord.catch_up.shortened');
  return snowflakeAt(Math.max(missedMs - overlapMs, earliestMs));
};

const ask = ({ api, clock }: CatchingUp, call: Call, signal: AbortSignal): Promise<unknown> => patiently(clock, signal, () => api.call(call, signal));

const isUnreadable = (error: unknown): error is PlatformError =>
  error instanceof PlatformError && (error.code === 'forbidden' || error.code === 'chat_gone' || error.code === 'not_found' || error.code === 'rejected' || error.code === 'unsupported');

/** The history does not say which roles people have; undefined when nobody says. */
export const rolesOf = async (catching: CatchingUp, ids: { readonly guild: string; readonly user: string }, signal: AbortSignal): Promise<readonly string[] | undefined> => {
  try {
    return readMember(await ask(catching, { method: 'GET', route: '/guilds/{guild}/members/{user}', ids }, signal)).roles;
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
};

const messagesOf = (page: readonly unknown[]): readonly { readonly raw: Json; readonly id: string }[] =>
  page
    .flatMap((item) => {
      const raw = record(item);
      const id = snowflake(raw?.['id']);
      return raw === undefined || id === undefined ? [] : [{ raw, id }];
    })
    .toSorted((a, b) => (isNewer(a.id, b.id) ? 1 : -1));

interface Channel {
  readonly id: string;
  readonly guildId?: string | undefined;
  readonly after: string;
}

const asTold = ({ guildId }: Channel, raw: Json): Json => ({ ...raw, ...(guildId !== undefined && { guild_id: guildId }) });

const unlessUnreadable = async ({ log }: CatchingUp, channel: Channel, work: () => Promise<void>): Promise<void> => {
  try {
    await work();
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    log.info({ channel: channel.id, reason: error.message }, 'discord.catch_up.unreadable');
  }
};

const mostEditable = 50;

/** Hands on those of the last messages before the gap, up to `known`, that were changed during it. */
export const catchUpEdits = async (catching: CatchingUp, channel: Channel & { readonly known: string }, take: (message: Json) => Promise<void>, signal: AbortSignal): Promise<void> =>
  unlessUnreadable(catching, channel, async () => {
    const before = String(BigInt(channel.known) + 1n);
    const page = list(await ask(catching, { method: 'GET', route: '/channels/{channel}/messages', ids: { channel: channel.id }, query: { before, limit: String(mostEditable) } }, signal));
    const sinceMs = snowflakeTimeMs(channel.after);
    for (const { raw } of messagesOf(page)) if (Date.parse(text(raw['edited_timestamp']) ?? '') >= sinceMs) await take(asTold(channel, raw));
  });

/** Hands on every message of a channel behind `after`, oldest first, as the gateway would have told it. A channel that may not be read is passed over. */
export const catchUp = async (catching: CatchingUp, channel: Channel, take: (message: Json) => Promise<void>, signal: AbortSignal): Promise<void> => {
  let after = channel.after;
  let count = 0;
  await unlessUnreadable(catching, channel, async () => {
    for (;;) {
      const page = list(await ask(catching, { method: 'GET', route: '/channels/{channel}/messages', ids: { channel: channel.id }, query: { after, limit: String(pageSize) } }, signal));
      for (const { raw, id } of messagesOf(page)) {
        await take(asTold(channel, raw));
        after = id;
        count += 1;
      }
      if (page.length < pageSize) break;
    }
  });
  if (count > 0) catching.log.info({ channel: channel.id, messages: count }, 'discord.catch_up.done');
};

import { PlatformError } from '../../core/errors.ts';
import { slept } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import type { DiscordApi } from './api.ts';
import type { DirectChats } from './direct-chats.ts';
import type { GatewaySocket } from './gateway-socket.ts';
import type { Position } from './position.ts';
import { isNewer, record, snowflake, snowflakeAt } from './wire.ts';

export interface Probing {
  readonly api: DiscordApi;
  /** A server of which this connection hears; undefined when there is none. */
  guild(): Promise<string | undefined>;
  readonly directChats: Pick<DirectChats, 'list'>;
  readonly position: Position;
  readonly socket: GatewaySocket;
  readonly clock: Clock;
  readonly ownId: string;
  readonly quietMs: number;
  /** When the last event came. */
  lastEventMs(): number;
}

/** How long Discord may take to answer by an event. */
const answerMs = 10_000;

/** A message that is younger may still be on its way. */
const underwayMs = 30_000;

const mostChats = 3;

/** A question that Discord does not answer says nothing about the connection. */
const withoutEvidence = (error: unknown): undefined => {
  if (!(error instanceof PlatformError)) throw error;
  return undefined;
};

/** Whether an event comes when we ask for one; undefined when there is no server to ask about. */
const answersByEvent = async (probing: Probing, signal: AbortSignal): Promise<boolean | undefined> => {
  const guild = await probing.guild().catch(withoutEvidence);
  if (guild === undefined) return undefined;
  const askedMs = probing.clock.now();
  probing.socket.requestMember(guild, probing.ownId, `probe${askedMs}`);
  const lookEveryMs = Math.min(250, probing.quietMs / 4);
  // By looks, not by the clock: while this process stood still nobody could hear an answer.
  for (let waitedMs = 0; waitedMs < Math.min(answerMs, probing.quietMs); waitedMs += lookEveryMs) {
    if (!(await slept(probing.clock, lookEveryMs, signal))) return true;
    if (probing.lastEventMs() >= askedMs) return true;
  }
  return false;
};

/** Whether a direct chat holds a message that was never delivered. */
const missedMessage = async ({ api, directChats, position, clock }: Probing, signal: AbortSignal): Promise<boolean> => {
  const seen = position.newestMessage();
  if (seen === undefined) return false;
  for (const channel of (await directChats.list()).slice(0, mostChats)) {
    const place = await api.call({ method: 'GET', route: '/channels/{channel}', ids: { channel } }, signal).catch(withoutEvidence);
    const newest = snowflake(record(place)?.['last_message_id']);
    if (newest !== undefined && isNewer(newest, seen) && isNewer(snowflakeAt(clock.now() - underwayMs), newest)) return true;
  }
  return false;
};

const deaf = (): PlatformError => new PlatformError('unavailable', 'the connection answers heartbeats but delivers nothing');

/**
 * Watches for a connection that lives and delivers nothing. Silence alone proves nothing, because a quiet server is silent: after a while
 * without an event one is asked for. That counts as evidence only where the same question was answered when the connection began.
 */
export const watchDelivery = async (probing: Probing, signal: AbortSignal): Promise<void> => {
  const { clock, quietMs, position } = probing;
  let isAnswered: boolean | undefined;
  while (await slept(clock, quietMs / 2, signal)) {
    if (isAnswered !== true) isAnswered = (await answersByEvent(probing, signal)) ?? isAnswered;
    if (clock.now() - probing.lastEventMs() < quietMs) continue;
    const heard = isAnswered === true ? await answersByEvent(probing, signal) : !(await missedMessage(probing, signal));
    if (signal.aborted) return;
    if (heard === false) {
      position.forget();
      throw deaf();
    }
  }
};

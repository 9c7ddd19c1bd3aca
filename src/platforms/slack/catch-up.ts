import { PlatformError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { newSlots } from '../../lib/slots.ts';
import type { Places, SpokenPlace } from './places.ts';
import type { Taker } from './take.ts';
import { isNewer, msToTs, record, records, text, timestamp, tsToMs } from './wire.ts';
import type { Json } from './wire.ts';
import type { Workspace } from './workspaces.ts';

export interface CatchingUp {
  readonly taker: Taker;
  readonly places: Places;
  readonly workspaces: readonly Workspace[];
  readonly clock: Clock;
  readonly log: Logger;
}

const pageSize = 200;
const mostPages = 5;
/** What was said longer ago is not answered out of the blue. */
const oldestMs = 7 * 24 * 3600_000;
const atOnce = 4;
/** Slack may take a moment between keeping a message and delivering it. */
const graceMs = 30_000;

/** Messages of a place after a moment, oldest first. */
const missedIn = async ({ clock, log }: CatchingUp, { api }: Workspace, place: SpokenPlace, signal: AbortSignal): Promise<readonly Json[]> => {
  const earliest = msToTs(clock.now() - oldestMs);
  const after = isNewer(place.lastTs, earliest) ? place.lastTs : earliest;
  const method = place.threadTs === undefined ? 'conversations.history' : 'conversations.replies';
  const found: Json[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const answer = await api.repeatable(method, { channel: place.channelId, oldest: after, limit: pageSize, ts: place.threadTs, cursor }, signal, 'chat');
    found.push(...records(answer['messages']));
    cursor = text(record(answer['response_metadata'])?.['next_cursor']);
    if (cursor === undefined) break;
  }
  if (cursor !== undefined) log.warn({ channel: place.channelId, thread: place.threadTs, messages: found.length }, 'slack.catch_up.cut');
  const ofThread = (message: Json): boolean => place.threadTs === undefined || message['ts'] !== place.threadTs;
  const messages = found.filter((message) => timestamp(message['ts']) !== undefined && ofThread(message));
  return messages.toSorted((a, b) => (isNewer(String(a['ts']), String(b['ts'])) ? 1 : -1));
};

/** How many messages of the place Slack should have delivered and has not. */
const look = async (catching: CatchingUp, workspace: Workspace, place: SpokenPlace, signal: AbortSignal): Promise<number> => {
  let missed = 0;
  for (const message of await missedIn(catching, workspace, place, signal)) {
    const wasMissed = await catching.taker.takeOld(place.channelId, place.teamId, message);
    if (wasMissed && catching.clock.now() - tsToMs(String(message['ts'])) > graceMs) missed += 1;
  }
  return missed;
};

/** Waits out limits, and leaves places alone that cannot be read. */
const patiently = async (catching: CatchingUp, place: SpokenPlace, signal: AbortSignal): Promise<number> => {
  const workspace = catching.workspaces.find(({ teamId }) => teamId === place.teamId);
  if (workspace === undefined) return 0;
  for (;;) {
    try {
      return await look(catching, workspace, place, signal);
    } catch (error) {
      if (!(error instanceof PlatformError) || error.code === 'unavailable' || error.code === 'aborted') throw error;
      if (error.code !== 'rate_limited') {
        catching.log.info({ channel: place.channelId, thread: place.threadTs, reason: error.message }, 'slack.catch_up.refused');
        return 0;
      }
      await catching.clock.sleep(error.facts.retryAfterMs ?? 1000, signal);
    }
  }
};

/** Fetches what was said at the latest places since the last message that is stored; what arrives there meanwhile waits. Answers how many were missed. */
export const catchUp = async (catching: CatchingUp, most: number, signal: AbortSignal): Promise<number> => {
  const slots = newSlots(atOnce);
  const looks = catching.places.latest(most).map((place) => catching.taker.before(place.channelId, () => slots.run(signal, () => patiently(catching, catching.places.now(place), signal))));
  const outcomes = await Promise.allSettled(looks);
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return outcomes.reduce((missed, outcome) => missed + (outcome.status === 'fulfilled' ? outcome.value : 0), 0);
};

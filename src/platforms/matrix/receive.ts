import { PlatformError } from '../../core/errors.ts';
import type { AccountName } from '../../core/ids.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Inbox } from '../contract.ts';
import type { MatrixApi } from './api.ts';
import type { Crypto } from './crypto/crypto.ts';
import { followReplacement, isReplaced } from './follow-room.ts';
import { answerInvite } from './invites.ts';
import type { MatrixOptions } from './options.ts';
import type { Parsed, Surroundings } from './parse.ts';
import { takeLate } from './take-late.ts';
import { newProbe } from './probe.ts';
import type { Rooms } from './rooms.ts';
import { takeRoom } from './take-room.ts';
import type { RoomNews } from './take-room.ts';
import type { Timeline } from './timeline.ts';
import { integer, list, record, text } from './wire.ts';
import type { Json, RoomEvent } from './wire.ts';

export interface Receiving {
  readonly account: AccountName;
  readonly api: MatrixApi;
  readonly inbox: Inbox;
  readonly log: Logger;
  readonly clock: Clock;
  readonly options: MatrixOptions;
  readonly me: { readonly userId: string; readonly deviceId?: string };
  readonly rooms: Rooms;
  readonly timeline: Timeline;
  readonly crypto: Crypto | undefined;
  /** When the account was started: whoever has never followed the stream answers nothing older. */
  readonly startedMs: number;
  parse(event: RoomEvent, around: Surroundings): Parsed;
}

/** Where we are in the homeserver's stream, and since when. */
export interface Position {
  readonly since: string;
  readonly atMs: number;
}

const cursorName = 'since';

const writePosition = ({ since, atMs }: Position): string => JSON.stringify({ since, atMs });

const readPosition = (value: string | undefined): Position | undefined => {
  const stored = value === undefined ? undefined : record(JSON.parse(value));
  const [since, atMs] = [text(stored?.['since']), integer(stored?.['atMs'])];
  return since === undefined || atMs === undefined ? undefined : { since, atMs };
};

const timelineLimit = 50;

/** Who is present and who is typing is of no use to us; members are told when they speak. */
const filter: Json = {
  presence: { types: [] },
  account_data: { types: ['m.direct'] },
  room: {
    account_data: { types: [] },
    ephemeral: { types: [] },
    state: { lazy_load_members: true, include_redundant_members: true },
    timeline: { limit: timelineLimit, lazy_load_members: true, include_redundant_members: true },
  },
};

/** Does all of it side by side; fails with the first failure when everything has ended. */
const all = async (work: readonly Promise<void>[]): Promise<void> => {
  const failed = (await Promise.allSettled(work)).find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
};

const takeDirect = async ({ rooms }: Receiving, answer: Json): Promise<void> => {
  for (const event of list(record(answer['account_data'])?.['events']).map(record)) {
    if (event !== undefined && event['type'] === 'm.direct') await rooms.saveDirect(record(event['content']) ?? {});
  }
};

/** Stores everything that one answer holds. Resolves also for what was skipped on purpose; rejects when the answer must come again. */
const takeAnswer = async (receiving: Receiving, answer: Json, when: Pick<RoomNews, 'position' | 'startedMs'>, signal: AbortSignal): Promise<void> => {
  await receiving.crypto?.receive(answer, signal);
  await takeDirect(receiving, answer);
  const rooms = record(answer['rooms']);
  const joined = Object.entries(record(rooms?.['join']) ?? {}).map(([roomId, room]): RoomNews => ({ ...when, roomId, room: record(room) ?? {} }));
  // First those that go on elsewhere: what is said there continues what was said here.
  const replaced = joined.filter(({ room }) => isReplaced(room));
  for (const news of replaced) {
    await takeRoom(receiving, news, signal);
    if (when.position !== undefined) await followReplacement(receiving, news.roomId, signal);
  }
  await all(joined.filter((news) => !replaced.includes(news)).map((news) => takeRoom(receiving, news, signal)));
  await takeLate(receiving, when, signal);
  await all(Object.entries(record(rooms?.['invite']) ?? {}).map(([roomId, room]) => answerInvite(receiving, roomId, room, signal)));
};

/** Follows the homeserver's stream, and does what its owner wants of the account's device, until aborted or until one of both fails. */
export const receive = async (receiving: Receiving, signal: AbortSignal): Promise<void> => {
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  const working = [follow(receiving, both), receiving.crypto?.verification.attend(both)];
  try {
    await Promise.all(working);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    stop.abort();
    await Promise.allSettled(working);
    await receiving.crypto?.stop();
  }
};

/** The position advances when everything before it is stored. */
const follow = async (receiving: Receiving, signal: AbortSignal): Promise<void> => {
  const { api, inbox, clock, me, options, crypto, startedMs } = receiving;
  const heldMs = options.sync_timeout_seconds * 1000;
  let position = readPosition(await inbox.cursor.read(cursorName));
  const filterId = await api.saveFilter(me.userId, filter, signal);
  await crypto?.start(signal);
  const probe = newProbe(receiving);
  // The first answer comes at once: until then nobody knows whether we receive at all.
  for (let waitMs = 0; ; waitMs = heldMs) {
    const answer = await api.sync({ filter: filterId, timeout: String(waitMs), ...(position !== undefined && { since: position.since }) }, heldMs, signal);
    const next = text(answer['next_batch']);
    if (next === undefined) throw new PlatformError('unavailable', 'sync: the answer has no position');
    inbox.alive();
    probe.look(answer);
    await takeAnswer(receiving, answer, { position, startedMs }, signal);
    const after: Position = { since: next, atMs: clock.now() };
    if (next !== position?.since) await inbox.cursor.write(cursorName, writePosition(after));
    position = after;
    await crypto?.settle(signal);
    await probe.send(signal);
  }
};

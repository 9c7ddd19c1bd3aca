import { setImmediate as otherWork } from 'node:timers/promises';
import { PlatformError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Inbox } from '../contract.ts';
import type { OwnThreads } from '../own-threads.ts';
import type { TelegramApi } from './api.ts';
import { updateKinds } from './parse.ts';
import type { Parsed } from './parse-message.ts';
import { integer, record } from './wire.ts';

export interface Receiving {
  readonly api: TelegramApi;
  readonly inbox: Inbox;
  readonly parse: (update: unknown, receivedAtMs: number) => Parsed;
  readonly log: Logger;
  readonly clock: Clock;
  readonly ownThreads: OwnThreads;
  readonly pollTimeoutSeconds: number;
}

/** After a week without updates Telegram may number them anew, and an old offset would confirm what nobody has read. */
const offsetValidMs = 6 * 24 * 3600 * 1000;

interface Position {
  /** The id of the first update that is not stored yet. */
  readonly offset: number;
  readonly atMs: number;
}

const cursorName = 'offset';

/** Telegram remembers by itself what was confirmed; our copy only spares it a repetition, so it need not be written for each update. */
const saveEveryMs = 1000;

const writePosition = ({ offset, atMs }: Position): string => `${offset}@${atMs}`;

const readPosition = (value: string | undefined): Position | undefined => {
  const [offset = Number.NaN, atMs = Number.NaN] = (value ?? '').split('@').map(Number);
  return Number.isSafeInteger(offset) && Number.isSafeInteger(atMs) ? { offset, atMs } : undefined;
};

/** Stores one update. Resolves also when it was skipped on purpose; rejects when it must come again. */
export const take = async ({ inbox, log, ownThreads }: Pick<Receiving, 'inbox' | 'log' | 'ownThreads'>, parsed: Parsed, updateId: number | undefined): Promise<void> => {
  if ('skip' in parsed) log.info({ updateId, reason: parsed.skip }, 'telegram.update.skipped');
  else if ('moved' in parsed) await inbox.moved(parsed.moved);
  // A name that a person has chosen stays.
  else if ('renamed' in parsed) await ownThreads.leave(parsed.renamed);
  else await inbox.accept(parsed);
};

/** What keeps its order; what is said in a chat comes behind the news that it goes on from another. */
const laneOf = (parsed: Parsed): string | undefined => {
  if ('skip' in parsed) return undefined;
  if ('moved' in parsed) return parsed.moved.to;
  return 'renamed' in parsed ? parsed.renamed.chatId : parsed.chat.id;
};

/**
 * Stores the updates of one answer: in order within a chat, side by side across chats. Answers the id behind the last
 * update before which everything is stored, and what went wrong there.
 */
const takeAll = async (receiving: Receiving, updates: readonly unknown[]): Promise<{ next: number | undefined; failure?: { error: unknown } }> => {
  const lanes = new Map<string, Promise<void>>();
  const taken = updates.map((update) => {
    const id = integer(record(update)?.['update_id']);
    const parsed = receiving.parse(update, receiving.clock.now());
    const lane = laneOf(parsed);
    const before = lane === undefined ? undefined : lanes.get(lane);
    const done = before === undefined ? take(receiving, parsed, id) : before.then(() => take(receiving, parsed, id));
    if (lane !== undefined) lanes.set(lane, done);
    return { id, done };
  });
  const outcomes = await Promise.allSettled(taken.map(({ done }) => done));
  let next: number | undefined;
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.status === 'rejected') return { next, failure: { error: outcome.reason } };
    const id = taken[index]?.id;
    if (id !== undefined) next = Math.max(next ?? 0, id + 1);
  }
  return { next };
};

/** Where we are in Telegram's stream: known at once, written now and then and at the end. */
interface Place {
  /** Undefined when it is unknown or too old to be asked for. */
  offset(): number | undefined;
  advance(offset: number): void;
  /** Rejects when the position could not be written. */
  written(): Promise<void>;
  save(): Promise<void>;
}

const findPlace = async ({ inbox, clock }: Pick<Receiving, 'inbox' | 'clock'>): Promise<Place> => {
  let position = readPosition(await inbox.cursor.read(cursorName));
  let saved = position;
  let writing = Promise.resolve();
  const save = (): Promise<void> => {
    if (position === undefined || position === saved) return writing;
    saved = position;
    writing = inbox.cursor.write(cursorName, writePosition(position));
    return writing;
  };
  return {
    offset: () => (position !== undefined && clock.now() - position.atMs < offsetValidMs ? position.offset : undefined),
    advance(offset) {
      position = { offset, atMs: clock.now() };
      if (position.atMs - (saved?.atMs ?? 0) >= saveEveryMs) void save();
    },
    written: () => writing,
    save,
  };
};

/** Asks Telegram for updates until aborted. An update is confirmed by the next call only, when it is already stored. */
export const poll = async (receiving: Receiving, signal: AbortSignal): Promise<void> => {
  const { api, inbox, pollTimeoutSeconds } = receiving;
  const stop = new AbortController();
  const end = (): void => stop.abort();
  let place: Place | undefined;
  signal.addEventListener('abort', end, { once: true });
  try {
    signal.throwIfAborted();
    await api.repeatable('account', stop.signal, (raw, s) => raw.deleteWebhook({ drop_pending_updates: false }, s));
    place = await findPlace(receiving);
    // The first answer comes at once: until then nobody knows whether we receive at all.
    for (let waitSeconds = 0; ; waitSeconds = pollTimeoutSeconds) {
      const offset = place.offset();
      const known = offset === undefined ? {} : { offset };
      const asked = api.poll(stop.signal, (raw, s) => raw.getUpdates({ ...known, timeout: waitSeconds, limit: 100, allowed_updates: updateKinds }, s));
      const [updates] = await Promise.all([asked, place.written()]);
      if (!Array.isArray(updates)) throw new PlatformError('unavailable', 'getUpdates: the answer is not a list');
      inbox.alive();
      if (updates.length === 0) continue;
      const { next, failure } = await takeAll(receiving, updates);
      if (failure !== undefined) throw failure.error;
      if (next === undefined) throw new PlatformError('unavailable', 'getUpdates: no update has an id');
      place.advance(Math.max(next, offset ?? 0));
      // Whoever has been stored is answered before we ask for more: the model is asked first, and works while we write.
      await otherWork();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', end);
    end();
    await Promise.allSettled([place?.written(), place?.save()]);
  }
};

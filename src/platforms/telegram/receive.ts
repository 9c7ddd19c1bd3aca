import { PlatformError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Inbox } from '../contract.ts';
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
export const take = async ({ inbox, log }: Pick<Receiving, 'inbox' | 'log'>, parsed: Parsed, updateId: number | undefined): Promise<void> => {
  if ('skip' in parsed) log.info({ updateId, reason: parsed.skip }, 'telegram.update.skipped');
  else await inbox.accept(parsed);
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
    const lane = 'skip' in parsed ? undefined : parsed.chat.id;
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

/** Asks Telegram for updates until aborted. An update is confirmed by the next call only, when it is already stored. */
export const poll = async (receiving: Receiving, signal: AbortSignal): Promise<void> => {
  const { api, inbox, clock, pollTimeoutSeconds } = receiving;
  const stop = new AbortController();
  const end = (): void => stop.abort();
  let position: Position | undefined;
  let saved = { position, done: Promise.resolve() };
  const save = (): void => {
    if (position !== undefined && position !== saved.position) saved = { position, done: inbox.cursor.write(cursorName, writePosition(position)) };
  };
  signal.addEventListener('abort', end, { once: true });
  try {
    signal.throwIfAborted();
    await api.repeatable('account', stop.signal, (raw, s) => raw.deleteWebhook({ drop_pending_updates: false }, s));
    position = readPosition(await inbox.cursor.read(cursorName));
    saved = { ...saved, position };
    for (;;) {
      const known = position !== undefined && clock.now() - position.atMs < offsetValidMs ? { offset: position.offset } : {};
      const asked = api.poll(stop.signal, (raw, s) => raw.getUpdates({ ...known, timeout: pollTimeoutSeconds, limit: 100, allowed_updates: updateKinds }, s));
      const [updates] = await Promise.all([asked, saved.done]);
      if (!Array.isArray(updates)) throw new PlatformError('unavailable', 'getUpdates: the answer is not a list');
      inbox.alive();
      if (updates.length === 0) continue;
      const { next, failure } = await takeAll(receiving, updates);
      if (failure !== undefined) throw failure.error;
      if (next === undefined) throw new PlatformError('unavailable', 'getUpdates: no update has an id');
      position = { offset: Math.max(next, known.offset ?? 0), atMs: clock.now() };
      if (position.atMs - (saved.position?.atMs ?? 0) >= saveEveryMs) save();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', end);
    end();
    await Promise.allSettled([saved.done]);
    save();
    await Promise.allSettled([saved.done]);
  }
};

import { isRefused, markDirect, mayFollow } from './invites.ts';
import { parseReplacement } from './parse.ts';
import type { Receiving } from './receive.ts';
import { list, readState, record, texts } from './wire.ts';
import type { Json } from './wire.ts';

/** Whether an answer of the stream says that the room was replaced. */
export const isReplaced = (room: Json): boolean =>
  [...list(record(room['state'])?.['events']), ...list(record(room['timeline'])?.['events'])].some((event) => readState(event)?.type === 'm.room.tombstone');

const serverOf = (userId: string): string | undefined => {
  const colon = userId.indexOf(':');
  return colon === -1 ? undefined : userId.slice(colon + 1);
};

/** What was said under encryption does not go on without. */
const wouldExpose = async ({ api, rooms }: Receiving, from: string, to: string, signal: AbortSignal): Promise<boolean> => {
  if ((await rooms.facts(from))?.encrypted !== true || (await rooms.facts(to))?.encrypted === true) return false;
  return (await api.state(to, 'm.room.encryption', signal)) === undefined;
};

/** We are in the room that has taken the place of another: everything goes on there. */
const arrive = async (receiving: Receiving, from: string, to: string, signal: AbortSignal): Promise<void> => {
  const { rooms, inbox, log } = receiving;
  if (await wouldExpose(receiving, from, to, signal)) {
    log.warn({ from, to, reason: 'the old room is encrypted, and the new one is not', fix: 'upgrade it again with encryption, or begin a new conversation there' }, 'matrix.room.not_followed');
    return;
  }
  for (const [inviter, ids] of Object.entries(await rooms.directContent())) if (texts(ids).includes(from)) await markDirect(receiving, { roomId: to, inviter }, signal);
  // Threads hang on messages, which stay in the old room.
  await inbox.moved({ from, to, withoutThreads: true });
  await rooms.follow(from, to);
  log.info({ from, to }, 'matrix.room.followed');
};

/** Goes from a room to the one that its admins have put in its place, if they may call us there; otherwise, and where we are not let in, it waits for an invitation. */
export const followReplacement = async (receiving: Receiving, roomId: string, signal: AbortSignal): Promise<void> => {
  const { api, rooms, account, clock, log, options } = receiving;
  const replacement = (await rooms.facts(roomId))?.replacement;
  if (replacement === undefined || (await rooms.successor(roomId)) === replacement.roomId) return;
  const { roomId: to, by } = replacement;
  if ((await rooms.facts(to)) === undefined) {
    const isDirect = (await rooms.direct()).has(roomId);
    if (!(await mayFollow(receiving, { isDirect, event: parseReplacement(account, { roomId, by, isDirect, to, atMs: clock.now() }) }))) {
      log.warn({ from: roomId, to, by, auto_join: options.auto_join, fix: 'somebody who may talk to the agent has to invite it into the new room' }, 'matrix.room.not_followed');
      return;
    }
    try {
      await api.join(to, signal, serverOf(by));
    } catch (error) {
      if (!isRefused(error)) throw error;
      log.warn({ err: error, from: roomId, to, fix: 'invite the agent into the new room' }, 'matrix.room.not_followed');
      return;
    }
  }
  await arrive(receiving, roomId, to, signal);
};

/** A room that we have just come into may be where another goes on: only what that one's admins said counts. */
export const recognise = async (receiving: Receiving, roomId: string, signal: AbortSignal): Promise<void> => {
  const { rooms } = receiving;
  if ((await rooms.lineage(roomId)).length > 1) return;
  const from = (await rooms.all()).find(({ facts }) => facts.replacement?.roomId === roomId)?.id;
  if (from !== undefined && from !== roomId) await arrive(receiving, from, roomId, signal);
};

import { unreadableEvent } from './crypto/undecrypted.ts';
import type { Receiving } from './receive.ts';
import { unknownRoom } from './rooms.ts';
import { isDirect, takeRoom } from './take-room.ts';
import type { RoomNews } from './take-room.ts';

/** Reads messages whose keys have come by now, and lets people know of those that still cannot be read. */
export const takeLate = async (receiving: Receiving, when: Pick<RoomNews, 'position' | 'startedMs'>, signal: AbortSignal): Promise<void> => {
  const { crypto, rooms, inbox, account, log } = receiving;
  if (crypto === undefined) return;
  for (const kept of await crypto.undecrypted.due()) {
    const read = await crypto.decrypt(kept.roomId, kept.event);
    if (read === undefined) continue;
    log.info({ roomId: kept.roomId, eventId: kept.event.id }, 'matrix.event.decrypted_late');
    await takeRoom(receiving, { ...when, roomId: kept.roomId, room: {}, late: read }, signal);
    await crypto.undecrypted.done(kept);
  }
  for (const kept of await crypto.undecrypted.untold()) {
    const direct = await isDirect(receiving, kept.roomId, (await rooms.facts(kept.roomId)) ?? unknownRoom, signal);
    await inbox.accept(unreadableEvent(account, kept, direct));
    await crypto.undecrypted.told(kept);
  }
};

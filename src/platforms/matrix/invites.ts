import { PlatformError } from '../../core/errors.ts';
import type { InboundEvent } from '../../core/message.ts';
import type { Receiving } from './receive.ts';
import { parseInvite } from './parse.ts';
import { list, readState, record, text, texts } from './wire.ts';
import type { Json } from './wire.ts';

interface Invitation {
  readonly roomId: string;
  readonly inviter: string;
  readonly name: string | undefined;
  readonly isDirect: boolean;
  readonly isSpace: boolean;
  readonly encrypted: boolean;
}

const readInvitation = (roomId: string, room: unknown, userId: string): Invitation | undefined => {
  const states = list(record(record(room)?.['invite_state'])?.['events']).map(readState).filter((state) => state !== undefined);
  const ours = states.find(({ type, stateKey }) => type === 'm.room.member' && stateKey === userId);
  if (ours?.sender === undefined) return undefined;
  const content = (type: string): Json | undefined => states.find((state) => state.type === type)?.content;
  return {
    roomId,
    inviter: ours.sender,
    name: text(content('m.room.name')?.['name']),
    isDirect: ours.content['is_direct'] === true,
    isSpace: text(content('m.room.create')?.['type']) === 'm.space',
    encrypted: content('m.room.encryption') !== undefined,
  };
};

/** Whether `auto_join` lets us follow somebody; `event` is how they are judged where that depends on who they are. */
export const mayFollow = async ({ inbox, options }: Receiving, { isDirect, event }: { readonly isDirect: boolean; readonly event: InboundEvent }): Promise<boolean> => {
  switch (options.auto_join) {
    case 'none':
      return false;
    case 'all':
      return true;
    case 'direct':
      if (isDirect) return true;
      break;
    case 'known':
      break;
    default:
      return options.auto_join satisfies never;
  }
  const accepted = await inbox.accept(event);
  // One who was turned away before is known; one who is let in never is, because an invitation is no message.
  return accepted === 'stored' || accepted === 'skipped';
};

const isWelcome = async (receiving: Receiving, invitation: Invitation): Promise<boolean> =>
  !invitation.isSpace && (await mayFollow(receiving, { isDirect: invitation.isDirect, event: parseInvite(receiving.account, { ...invitation, atMs: receiving.clock.now() }) }));

/** A direct chat stays one although more people may come: our account data says so. */
export const markDirect = async ({ api, rooms, me }: Receiving, { roomId, inviter }: Pick<Invitation, 'roomId' | 'inviter'>, signal: AbortSignal): Promise<void> => {
  const content = await rooms.directContent();
  const before = texts(content[inviter]);
  if (before.includes(roomId)) return;
  const after = { ...content, [inviter]: [...before, roomId] };
  await rooms.saveDirect(after);
  await api.saveAccountData(me.userId, 'm.direct', after, signal);
};

/** The invitation was taken back, or its homeserver is gone: nothing that a new connection would mend. */
export const isRefused = (error: unknown): boolean => error instanceof PlatformError && ['forbidden', 'chat_gone', 'rejected'].includes(error.code);

/** Follows an invitation, or leaves it alone, by `auto_join`. */
export const answerInvite = async (receiving: Receiving, roomId: string, room: unknown, signal: AbortSignal): Promise<void> => {
  const { api, log, me } = receiving;
  const invitation = readInvitation(roomId, room, me.userId);
  if (invitation === undefined) {
    log.info({ roomId, reason: 'malformed invitation' }, 'matrix.event.skipped');
    return;
  }
  if (!(await isWelcome(receiving, invitation))) {
    log.info({ roomId, inviter: invitation.inviter, auto_join: receiving.options.auto_join }, 'matrix.invite.left_alone');
    return;
  }
  if (invitation.isDirect) await markDirect(receiving, invitation, signal);
  try {
    await api.join(roomId, signal);
    log.info({ roomId, inviter: invitation.inviter }, 'matrix.room.joined');
  } catch (error) {
    if (!isRefused(error)) throw error;
    log.warn({ err: error, roomId }, 'matrix.join_refused');
  }
};

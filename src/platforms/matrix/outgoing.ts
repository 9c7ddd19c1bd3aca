import { PlatformError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { MatrixApi, SendEvent } from './api.ts';
import type { Crypto } from './crypto/crypto.ts';
import type { MatrixOptions } from './options.ts';
import { unknownRoom } from './rooms.ts';
import type { Rooms } from './rooms.ts';
import { text } from './wire.ts';

export interface Outgoing {
  /** Whether what is written into the room has to be encrypted. Rejects when that cannot be found out. */
  isEncrypted(roomId: string, signal: AbortSignal): Promise<boolean>;
  /** The only way into a room: encrypts what has to be, or refuses. */
  post(event: SendEvent, signal: AbortSignal): Promise<string>;
  /** It follows the stream from now on, or does not any more. While it does, it hears of a room that becomes encrypted. */
  follow(isFollowing: boolean): void;
}

export interface OutgoingParts {
  readonly api: MatrixApi;
  readonly rooms: Rooms;
  readonly options: MatrixOptions;
  readonly clock: Clock;
  /** Undefined when the account cannot encrypt. */
  readonly crypto: (signal: AbortSignal) => Promise<Crypto | undefined>;
}

/** How long the homeserver's word that a room is not encrypted holds. */
const trustMs = 60_000;

/**
 * Nothing goes into an encrypted room in the clear. That a room is encrypted is remembered for good; that it is not, the homeserver
 * has to say before the first message, and again from time to time. An answer that does not come is no permission.
 */
export const newOutgoing = ({ api, rooms, options, clock, crypto }: OutgoingParts): Outgoing => {
  const asked = new Map<string, number>();
  let following = false;

  /** Word of a change may be slow to come, or be lost with a connection that hangs. */
  const isFresh = (roomId: string): boolean => following && clock.now() - (asked.get(roomId) ?? Number.NEGATIVE_INFINITY) < trustMs;

  const isEncrypted = async (roomId: string, signal: AbortSignal): Promise<boolean> => {
    const facts = await rooms.facts(roomId);
    if (facts?.encrypted === true) return true;
    if (isFresh(roomId)) return false;
    const askedMs = clock.now();
    const settings = await api.state(roomId, 'm.room.encryption', signal);
    if (settings === undefined) {
      asked.set(roomId, askedMs);
      return false;
    }
    await rooms.save(roomId, { ...(facts ?? unknownRoom), encrypted: true });
    return true;
  };

  /** The stream may not have told yet. */
  const askReplacement = async (roomId: string, signal: AbortSignal): Promise<string | undefined> => {
    try {
      return text((await api.state(roomId, 'm.room.tombstone', signal))?.['replacement_room']);
    } catch (error) {
      // Whoever may not read there either was put out of it.
      if (error instanceof PlatformError) return undefined;
      throw error;
    }
  };

  /** A room that was replaced is closed to most; what cannot be said there any more waits until we are in the new one. */
  const explained = async (roomId: string, error: unknown, signal: AbortSignal): Promise<unknown> => {
    if (!(error instanceof PlatformError) || error.code !== 'forbidden') return error;
    const replacement = (await rooms.facts(roomId))?.replacement?.roomId ?? (await askReplacement(roomId, signal));
    const isThere = replacement !== undefined && (await rooms.facts(replacement)) !== undefined;
    return replacement === undefined || isThere ? error : new PlatformError('unavailable', `the room was replaced by ${replacement}, where the account is not yet: invite it there`, { cause: error });
  };

  const write = async (event: SendEvent, signal: AbortSignal): Promise<string> => {
    if (!(await isEncrypted(event.roomId, signal))) {
      if (options.encryption === 'required') throw new PlatformError('unsupported', 'the room is not encrypted, and `encryption: required` forbids to write there');
      return api.send(event, signal);
    }
    const sealing = await crypto(signal);
    if (sealing === undefined) throw new PlatformError('unsupported', 'the room is encrypted, and this account cannot encrypt (`encryption: off`, or a token without a device)');
    const content = await sealing.encrypt(event.roomId, { type: event.type, content: event.content }, signal);
    return api.send({ ...event, type: 'm.room.encrypted', content }, signal);
  };

  return {
    follow(isFollowing) {
      following = isFollowing;
      asked.clear();
    },
    isEncrypted,
    async post(event, signal) {
      const successor = await rooms.successor(event.roomId);
      if (successor !== undefined) throw new PlatformError('chat_gone', 'the room goes on elsewhere', { movedToChatId: successor });
      try {
        return await write(event, signal);
      } catch (error) {
        throw await explained(event.roomId, error, signal);
      }
    },
  };
};

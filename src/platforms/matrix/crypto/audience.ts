import { PlatformError } from '../../../core/errors.ts';
import type { MatrixApi } from '../api.ts';
import { integer, list, readState, record, text } from '../wire.ts';
import type { Json } from '../wire.ts';

/** Who may read what is written into an encrypted room, and how often its key changes. */
export interface Audience {
  readonly users: readonly string[];
  readonly rotationMs?: number;
  readonly rotationMessages?: number;
}

export interface Audiences {
  of(roomId: string, signal: AbortSignal): Promise<Audience>;
  /** Somebody came or went, or the rules changed. */
  note(roomId: string, room: Json): void;
  /** Nobody tells us of changes any more. */
  forget(): void;
  /** Without that nothing is kept: changes would not be heard of. */
  following: boolean;
}

const changing: ReadonlySet<string> = new Set(['m.room.member', 'm.room.encryption', 'm.room.history_visibility']);

const megolm = 'm.megolm.v1.aes-sha2';

const ask = async (api: MatrixApi, roomId: string, signal: AbortSignal): Promise<Audience> => {
  const [settings, visibility] = [await api.state(roomId, 'm.room.encryption', signal), await api.state(roomId, 'm.room.history_visibility', signal)];
  if (settings !== undefined && text(settings['algorithm']) !== megolm) throw new PlatformError('unsupported', `the room is encrypted in a way that is not known: ${text(settings['algorithm']) ?? ''}`);
  const joinedOnly = text(visibility?.['history_visibility']) === 'joined';
  const users = joinedOnly ? [...(await api.joinedMembers(roomId, signal)).keys()] : await api.members(roomId, signal);
  const [rotationMs, rotationMessages] = [integer(settings?.['rotation_period_ms']), integer(settings?.['rotation_period_msgs'])];
  return { users, ...(rotationMs !== undefined && { rotationMs }), ...(rotationMessages !== undefined && { rotationMessages }) };
};

export const newAudiences = (api: MatrixApi): Audiences => {
  const known = new Map<string, Audience>();
  const audiences: Audiences = {
    following: false,
    async of(roomId, signal) {
      const kept = audiences.following ? known.get(roomId) : undefined;
      if (kept !== undefined) return kept;
      const asked = await ask(api, roomId, signal);
      known.set(roomId, asked);
      return asked;
    },
    note(roomId, room) {
      const events = [...list(record(room['state'])?.['events']), ...list(record(room['timeline'])?.['events'])];
      if (record(room['timeline'])?.['limited'] === true || events.some((event) => changing.has(readState(event)?.type ?? ''))) known.delete(roomId);
    },
    forget: () => known.clear(),
  };
  return audiences;
};

import { PlatformError } from '../../core/errors.ts';
import { refusedWith } from './errors.ts';
import type { CallFacts } from './errors.ts';
import { path } from './http.ts';
import type { Http } from './http.ts';
import { readEvent, record, text, texts } from './wire.ts';
import type { Json, RoomEvent } from './wire.ts';

export interface Whoami {
  readonly userId: string;
  /** Absent for tokens that belong to no device; they cannot encrypt. */
  readonly deviceId?: string;
}

export interface SendEvent {
  readonly roomId: string;
  readonly type: string;
  readonly content: Json;
  /** The same again is the same event for the homeserver. */
  readonly txn: string;
}

export interface MessagesPage {
  readonly events: readonly RoomEvent[];
  readonly end?: string;
}

const sentEvent = (answer: Json): string => {
  const id = text(answer['event_id']);
  if (id === undefined) throw new PlatformError('unknown_outcome', 'the homeserver answered without an event id');
  return id;
};

const client = '/_matrix/client/v3';

/** Files take their time. */
const transferMs = 10 * 60_000;

/** What the gateway asks of a homeserver. Every failure is a `PlatformError`; nothing is tried twice. */
export const newApi = (http: Http) => {
  const get = (call: CallFacts, where: string, signal: AbortSignal, query?: Readonly<Record<string, string>>): Promise<Json> =>
    http.call({ ...call, method: 'GET', path: where, ...(query !== undefined && { query }) }, signal);
  const put = (call: CallFacts, where: string, json: unknown, signal: AbortSignal): Promise<Json> => http.call({ ...call, method: 'PUT', path: where, json }, signal);
  const post = (call: CallFacts, where: string, json: unknown, signal: AbortSignal): Promise<Json> => http.call({ ...call, method: 'POST', path: where, json }, signal);

  return {
    http,
    async whoami(signal: AbortSignal): Promise<Whoami> {
      const answer = await get({ what: 'whoami' }, `${client}/account/whoami`, signal);
      const [userId, deviceId] = [text(answer['user_id']), text(answer['device_id'])];
      if (userId === undefined) throw new PlatformError('unavailable', 'whoami: the answer has no user');
      return { userId, ...(deviceId !== undefined && { deviceId }) };
    },
    async displayName(userId: string, signal: AbortSignal): Promise<string | undefined> {
      try {
        return text((await get({ what: 'profile', missing: 'message' }, path`/_matrix/client/v3/profile/${userId}`, signal))['displayname']);
      } catch (error) {
        if (refusedWith(error, 'M_NOT_FOUND', 'M_FORBIDDEN')) return undefined;
        throw error;
      }
    },
    async saveFilter(userId: string, filter: Json, signal: AbortSignal): Promise<string> {
      const id = text((await post({ what: 'filter' }, path`/_matrix/client/v3/user/${userId}/filter`, filter, signal))['filter_id']);
      if (id === undefined) throw new PlatformError('unavailable', 'filter: the answer has no id');
      return id;
    },
    sync: (query: Readonly<Record<string, string>>, heldMs: number, signal: AbortSignal): Promise<Json> => http.call({ what: 'sync', method: 'GET', path: `${client}/sync`, query, heldMs }, signal),
    async messages(roomId: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<MessagesPage> {
      const answer = await get({ what: 'messages' }, path`/_matrix/client/v3/rooms/${roomId}/messages`, signal, query);
      const end = text(answer['end']);
      const chunk = Array.isArray(answer['chunk']) ? answer['chunk'] : [];
      return { events: chunk.map(readEvent).filter((event) => event !== undefined), ...(end !== undefined && { end }) };
    },
    /** Undefined when there is no such event, or we may not see it. */
    async event(roomId: string, eventId: string, signal: AbortSignal): Promise<RoomEvent | undefined> {
      try {
        return readEvent(await get({ what: 'event', missing: 'message' }, path`/_matrix/client/v3/rooms/${roomId}/event/${eventId}`, signal));
      } catch (error) {
        if (refusedWith(error, 'M_NOT_FOUND', 'M_FORBIDDEN', 'M_UNRECOGNIZED', 'M_INVALID_PARAM')) return undefined;
        throw error;
      }
    },
    /** Undefined when the room has no such state. */
    async state(roomId: string, type: string, signal: AbortSignal): Promise<Json | undefined> {
      try {
        return await get({ what: `state ${type}`, missing: 'message' }, path`/_matrix/client/v3/rooms/${roomId}/state/${type}/`, signal);
      } catch (error) {
        if (refusedWith(error, 'M_NOT_FOUND')) return undefined;
        throw error;
      }
    },
    async joinedMembers(roomId: string, signal: AbortSignal): Promise<ReadonlyMap<string, string | undefined>> {
      const answer = await get({ what: 'joined members' }, path`/_matrix/client/v3/rooms/${roomId}/joined_members`, signal);
      return new Map(Object.entries(record(answer['joined']) ?? {}).map(([id, member]) => [id, text(record(member)?.['display_name'])]));
    },
    /** Also those who are invited and may read what is written meanwhile. */
    async members(roomId: string, signal: AbortSignal): Promise<readonly string[]> {
      const answer = await get({ what: 'members' }, path`/_matrix/client/v3/rooms/${roomId}/members`, signal, { not_membership: 'leave' });
      const chunk = Array.isArray(answer['chunk']) ? answer['chunk'] : [];
      const present = chunk.map(record).filter((event) => ['join', 'invite'].includes(text(record(event?.['content'])?.['membership']) ?? ''));
      return present.map((event) => text(event?.['state_key'])).filter((id) => id !== undefined);
    },
    joinedRooms: async (signal: AbortSignal): Promise<readonly string[]> => texts((await get({ what: 'joined rooms' }, `${client}/joined_rooms`, signal))['joined_rooms']),
    /** Takes its time when the room is far away; `via` is a homeserver that knows it, by its older and its newer name. */
    join: (roomId: string, signal: AbortSignal, via?: string): Promise<Json> =>
      http.call({ what: 'join', method: 'POST', path: path`/_matrix/client/v3/join/${roomId}`, json: {}, heldMs: 60_000, ...(via !== undefined && { query: { server_name: via, via } }) }, signal),
    send: async ({ roomId, type, content, txn }: SendEvent, signal: AbortSignal): Promise<string> =>
      sentEvent(await put({ what: 'send', visible: true }, path`/_matrix/client/v3/rooms/${roomId}/send/${type}/${txn}`, content, signal)),
    redact: async (event: { roomId: string; eventId: string; txn: string }, signal: AbortSignal): Promise<void> =>
      void (await put({ what: 'redact', missing: 'message' }, path`/_matrix/client/v3/rooms/${event.roomId}/redact/${event.eventId}/${event.txn}`, {}, signal)),
    typing: async (roomId: string, userId: string, state: { typing: boolean; timeout?: number }, signal: AbortSignal): Promise<void> =>
      void (await put({ what: 'typing' }, path`/_matrix/client/v3/rooms/${roomId}/typing/${userId}`, state, signal)),
    receipt: async (roomId: string, eventId: string, signal: AbortSignal): Promise<void> =>
      void (await post({ what: 'receipt', missing: 'message' }, path`/_matrix/client/v3/rooms/${roomId}/receipt/m.read/${eventId}`, {}, signal)),
    async ownReactions(roomId: string, eventId: string, userId: string, signal: AbortSignal): Promise<readonly { readonly id: string; readonly emoji: string }[]> {
      const answer = await get({ what: 'relations', missing: 'message' }, path`/_matrix/client/v1/rooms/${roomId}/relations/${eventId}/m.annotation/m.reaction`, signal, { limit: '100' });
      const chunk = Array.isArray(answer['chunk']) ? answer['chunk'] : [];
      const own = chunk.map(readEvent).filter((event) => event !== undefined && event.sender === userId && !event.isRedacted);
      return own.flatMap((event) => (event === undefined ? [] : [{ id: event.id, emoji: text(record(event.content['m.relates_to'])?.['key']) ?? '' }]));
    },
    sendToDevice: async (type: string, txn: string, messages: Json, signal: AbortSignal): Promise<Json> => put({ what: 'send to device' }, path`/_matrix/client/v3/sendToDevice/${type}/${txn}`, { messages }, signal),
    saveAccountData: async (userId: string, type: string, content: Json, signal: AbortSignal): Promise<void> =>
      void (await put({ what: 'account data' }, path`/_matrix/client/v3/user/${userId}/account_data/${type}`, content, signal)),
    async upload(file: { body: Blob; mime: string; name?: string }, signal: AbortSignal): Promise<string> {
      const query = file.name === undefined ? {} : { filename: file.name };
      const answer = await http.call({ what: 'upload', method: 'POST', path: '/_matrix/media/v3/upload', query, file, heldMs: transferMs }, signal);
      const uri = text(answer['content_uri']);
      if (uri === undefined) throw new PlatformError('unavailable', 'upload: the answer has no address');
      return uri;
    },
    /** By the way that asks who we are; by the older one where the homeserver does not have it yet. */
    async download(server: string, mediaId: string, signal: AbortSignal): Promise<Response> {
      const facts = { what: 'download', method: 'GET', missing: 'file', heldMs: transferMs } as const;
      try {
        return await http.open({ ...facts, path: path`/_matrix/client/v1/media/download/${server}/${mediaId}` }, signal);
      } catch (error) {
        if (!refusedWith(error, 'M_UNRECOGNIZED')) throw error;
        return http.open({ ...facts, path: path`/_matrix/media/v3/download/${server}/${mediaId}` }, signal);
      }
    },
  };
};

export type MatrixApi = ReturnType<typeof newApi>;

import { isVerification } from './crypto/verification.ts';
import { recognise } from './follow-room.ts';
import { readGap } from './history.ts';
import type { Position, Receiving } from './receive.ts';
import { applySync, roomName, unknownRoom } from './rooms.ts';
import type { RoomFacts } from './rooms.ts';
import type { Surroundings } from './parse.ts';
import { list, readEvent, readRelation, readState, record, text } from './wire.ts';
import type { Json, RoomEvent } from './wire.ts';

export interface RoomNews {
  readonly roomId: string;
  readonly room: Json;
  /** Undefined on the very first sync. */
  readonly position: Position | undefined;
  /** What the very first sync shows from before this time was said when we were not there. */
  readonly startedMs: number;
  /** A message whose key has come by now. */
  readonly late?: RoomEvent;
}

/** Who is who, from what the homeserver tells about those who speak. */
const namesOf = (room: Json): ReadonlyMap<string, string> => {
  const events = [...list(record(room['state'])?.['events']), ...list(record(room['timeline'])?.['events'])];
  const members = events.map(readState).filter((state) => state?.type === 'm.room.member');
  return new Map(members.flatMap((member) => {
    const name = text(member?.content['displayname']);
    return member === undefined || name === undefined ? [] : [[member.stateKey, name] as const];
  }));
};

/** In a room that is new to us people are heard from their invitation on: they write before we have come. */
const sinceInvited = (events: readonly RoomEvent[], userId: string): readonly RoomEvent[] => {
  const about = (membership: string) => events.findLastIndex((event) => event.type === 'm.room.member' && event.stateKey === userId && event.content['membership'] === membership);
  return events.slice(Math.max(0, about('invite') === -1 ? about('join') : about('invite')));
};

/** Clocks differ. */
const clockSlackMs = 5000;

const eventsOf = async ({ api, me, log, rooms }: Receiving, { roomId, room, position, startedMs, late }: RoomNews, isNew: boolean, signal: AbortSignal): Promise<readonly RoomEvent[]> => {
  if (late !== undefined) return [late];
  const timeline = record(room['timeline']);
  const events = list(timeline?.['events']).map(readEvent).filter((event) => event !== undefined);
  if (position === undefined) return events.filter(({ atMs }) => atMs >= startedMs - clockSlackMs);
  // Where a room goes on people have been speaking to us before we came.
  const goesOn = isNew && (await rooms.lineage(roomId)).length > 1;
  if (isNew && !goesOn) return sinceInvited(events, me.userId);
  const before = text(timeline?.['prev_batch']);
  if (timeline?.['limited'] !== true || before === undefined) return events;
  const shown = new Set(events.map(({ id }) => id));
  const missed = await readGap(api, { roomId, before, ...(!goesOn && { after: { since: position.since, sinceMs: position.atMs } }) }, log, signal);
  return [...missed.filter(({ id }) => !shown.has(id)), ...events];
};

/** A direct chat: our account data says so, or nobody else is there. */
export const isDirect = async ({ api, rooms }: Receiving, roomId: string, facts: RoomFacts, signal: AbortSignal): Promise<boolean> => {
  if ((await rooms.direct()).has(roomId)) return true;
  if (facts.members !== undefined) return facts.members <= 2;
  const { size } = await api.joinedMembers(roomId, signal);
  await rooms.save(roomId, { ...facts, members: size });
  return size <= 2;
};

/** An event as it can be read; undefined when its key is missing, and it is kept until that comes. */
const readable = async ({ crypto, me }: Receiving, roomId: string, event: RoomEvent): Promise<RoomEvent | undefined> => {
  if (event.type !== 'm.room.encrypted' || event.isRedacted || crypto === undefined) return event;
  const read = await crypto.decrypt(roomId, event);
  if (read !== undefined) return read;
  // What another device of ours has written is skipped either way.
  if (event.sender === me.userId) return event;
  await crypto.undecrypted.keep(roomId, event);
  return undefined;
};

interface Place {
  readonly room: Surroundings['room'];
  readonly names: ReadonlyMap<string, string>;
}

const takeEvent = async (receiving: Receiving, { room, names }: Place, event: RoomEvent, signal: AbortSignal): Promise<boolean> => {
  const { inbox, log, timeline, parse } = receiving;
  if (isVerification(event)) {
    if (event.sender !== receiving.me.userId) await receiving.crypto?.verification.hearRoom(room.id, event, signal);
    return false;
  }
  timeline.remember(event);
  const { thread, replaces } = readRelation(event.content);
  const isOwn = event.sender === receiving.me.userId;
  const around: Surroundings = {
    room,
    senderName: names.get(event.sender),
    inOwnThread: await timeline.isInThread(room.id, thread),
    undone: timeline.undone(event),
    ...(!isOwn && { replyTo: await timeline.replyTo(room.id, event, signal) }),
    ...(!isOwn && replaces !== undefined && { editedThread: await timeline.threadOf(room.id, replaces, signal) }),
  };
  const parsed = parse(event, around);
  if (!('skip' in parsed)) return (await inbox.accept(parsed)) === 'stored';
  const line = { roomId: room.id, eventId: event.id, reason: parsed.skip };
  if (isOwn || event.stateKey !== undefined) log.debug(line, 'matrix.event.skipped');
  else log.info(line, 'matrix.event.skipped');
  return false;
};

/** Shows people how far we have read. Nothing depends on it. */
const showRead = ({ api, log, options }: Receiving, roomId: string, eventId: string | undefined, signal: AbortSignal): void => {
  if (eventId === undefined || !options.read_receipts) return;
  api.receipt(roomId, eventId, signal).catch((error: unknown) => log.debug({ err: error, roomId }, 'matrix.receipt_failed'));
};

/** Stores what a sync tells about one room, in order. */
export const takeRoom = async (receiving: Receiving, news: RoomNews, signal: AbortSignal): Promise<void> => {
  const { rooms, crypto, log } = receiving;
  const { roomId, room } = news;
  const before = await rooms.facts(roomId);
  const facts = applySync(before ?? unknownRoom, room);
  // First of all: nothing may be sent in the clear because something else went wrong.
  await rooms.save(roomId, facts);
  crypto?.noteMembers(roomId, room);
  if (facts.isSpace) return;
  if (before === undefined && news.position !== undefined) await recognise(receiving, roomId, signal);
  const events = await eventsOf(receiving, news, before === undefined, signal);
  if (events.length === 0) return;
  const name = roomName(facts);
  const [, ...former] = await rooms.lineage(roomId);
  const place: Place = {
    names: namesOf(room),
    room: {
      id: roomId,
      type: (await isDirect(receiving, roomId, facts, signal)) ? 'dm' : 'group',
      encrypted: facts.encrypted,
      ...(former.length > 0 && { former }),
      ...(name !== undefined && { name }),
      ...(facts.topic !== undefined && { topic: facts.topic }),
    },
  };
  let last: string | undefined;
  for (const event of events) {
    const read = await readable(receiving, roomId, event);
    if (read === undefined) log.info({ roomId, eventId: event.id }, 'matrix.event.undecryptable');
    else if (await takeEvent(receiving, place, read, signal)) last = event.id;
  }
  showRead(receiving, roomId, last, signal);
};

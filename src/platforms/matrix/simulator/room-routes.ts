import { record, text } from '../wire.ts';
import type { Json } from '../wire.ts';
import { forbidden, notFound, Refusal } from './refusal.ts';
import type { Asked, Route } from './routes.ts';
import { positionOf, tokenOf } from './sync-answer.ts';
import { upgradeRoom } from './upgrade.ts';
import { addEvent, createRoom, membersOf, membershipOf, setMembership, shownTo, stateName } from './world.ts';
import type { Room, StoredEvent } from './world.ts';

const at = ({ params }: Asked, index: number): string => params[index] ?? '';

/** The room of a call, for those who are in it. */
const roomOf = (asked: Asked): Room => {
  const room = asked.world.rooms.get(at(asked, 0));
  if (room === undefined || membershipOf(room, asked.user.id) !== 'join') throw forbidden(`User ${asked.user.id} not in room ${at(asked, 0)}`);
  return room;
};

const maxEventBytes = 65_536;

/** The same transaction of the same device is the same event. */
const once = (asked: Asked, txn: string, make: () => StoredEvent): Json => {
  const name = `${asked.user.id} ${asked.device.id} ${txn}`;
  const known = asked.world.sent.get(name);
  if (known !== undefined) return { event_id: known };
  const { event } = make();
  asked.world.sent.set(name, event.event_id);
  return { event_id: event.event_id };
};

const isDuplicateReaction = (room: Room, sender: string, content: Json): boolean => {
  const wanted = JSON.stringify(content['m.relates_to']);
  const redacted = new Set(room.timeline.map(({ event }) => event['redacts']));
  return room.timeline.some(({ event }) => event.type === 'm.reaction' && event.sender === sender && JSON.stringify(event.content['m.relates_to']) === wanted && !redacted.has(event.event_id));
};

/** Ordinary people have no power; what it takes to write is the room's to say. */
const mayWrite = (room: Room, userId: string): boolean => {
  const levels = room.state.get(stateName('m.room.power_levels', ''))?.event.content ?? {};
  const power = record(levels['users'])?.[userId] ?? levels['users_default'] ?? 0;
  return Number(power) >= Number(levels['events_default'] ?? 0);
};

const sendEvent = (asked: Asked): Json => {
  const room = roomOf(asked);
  if (!mayWrite(room, asked.user.id)) throw forbidden("You don't have permission to post that to the room.");
  const [type, txn] = [at(asked, 1), at(asked, 2)];
  return once(asked, `${room.id} ${txn}`, () => {
    if (Buffer.byteLength(JSON.stringify(asked.body)) > maxEventBytes) throw new Refusal(413, 'M_TOO_LARGE', 'event too large');
    if (type === 'm.reaction' && isDuplicateReaction(room, asked.user.id, asked.body)) throw new Refusal(400, 'M_DUPLICATE_ANNOTATION', "Can't send same reaction twice");
    return addEvent(asked.world, room, { type, sender: asked.user.id, content: asked.body, txn: { device: asked.device.id, id: txn } });
  });
};

const redact = (asked: Asked): Json => {
  const room = roomOf(asked);
  const [eventId, txn] = [at(asked, 1), at(asked, 2)];
  return once(asked, `redact ${txn}`, () => addEvent(asked.world, room, { type: 'm.room.redaction', sender: asked.user.id, content: { redacts: eventId }, more: { redacts: eventId } }));
};

const getState = (asked: Asked): Json => {
  const found = roomOf(asked).state.get(stateName(at(asked, 1), at(asked, 2)));
  if (found === undefined) throw notFound('Event');
  return found.event.content;
};

const setState = (asked: Asked): Json => ({ event_id: addEvent(asked.world, roomOf(asked), { type: at(asked, 1), sender: asked.user.id, stateKey: at(asked, 2), content: asked.body }).event.event_id });

const messages = (asked: Asked): Json => {
  const room = roomOf(asked);
  const from = asked.query.has('from') ? positionOf(asked.query.get('from')) : asked.world.position;
  const to = positionOf(asked.query.get('to'));
  const older = room.timeline.filter((stored) => stored.at <= from && stored.at > to).toReversed();
  const page = older.slice(0, Number(asked.query.get('limit') ?? 10));
  return {
    chunk: page.map((stored) => shownTo(asked.world, stored, asked.device.id)),
    start: tokenOf(from),
    ...(page.length < older.length && { end: tokenOf((page.at(-1)?.at ?? 1) - 1) }),
  };
};

const getEvent = (asked: Asked): Json => {
  const found = roomOf(asked).timeline.find(({ event }) => event.event_id === at(asked, 1));
  if (found === undefined) throw notFound('Event');
  return shownTo(asked.world, found, asked.device.id);
};

const relations = (asked: Asked): Json => {
  const room = roomOf(asked);
  const redacted = new Set(room.timeline.map(({ event }) => event['redacts']));
  const found = room.timeline.filter(({ event }) => {
    const relates = record(event.content['m.relates_to']);
    return relates?.['event_id'] === at(asked, 1) && relates['rel_type'] === at(asked, 2) && event.type === at(asked, 3) && !redacted.has(event.event_id);
  });
  return { chunk: found.map((stored) => shownTo(asked.world, stored, asked.device.id)) };
};

const join = (asked: Asked): Json => {
  const room = asked.world.rooms.get(at(asked, 0));
  const membership = room && membershipOf(room, asked.user.id);
  if (room === undefined) throw notFound('Room');
  const isPublic = room.state.get(stateName('m.room.join_rules', ''))?.event.content['join_rule'] === 'public';
  if (membership !== 'invite' && membership !== 'join' && !isPublic) throw forbidden('You are not invited to this room.');
  if (membership !== 'join') setMembership(asked.world, room, { userId: asked.user.id, membership: 'join' });
  return { room_id: room.id };
};

const leave = (asked: Asked): Json => {
  const room = asked.world.rooms.get(at(asked, 0));
  if (room !== undefined) setMembership(asked.world, room, { userId: asked.user.id, membership: 'leave' });
  return {};
};

const invite = (asked: Asked): Json => {
  setMembership(asked.world, roomOf(asked), { userId: text(asked.body['user_id']) ?? '', membership: 'invite', sender: asked.user.id });
  return {};
};

const create = ({ world, user, body }: Asked): Json => {
  const initial = Array.isArray(body['initial_state']) ? body['initial_state'].map(record) : [];
  const name = text(body['name']);
  const room = createRoom(world, { creator: user.id, encrypted: initial.some((state) => state?.['type'] === 'm.room.encryption'), ...(name !== undefined && { name }) });
  const invited = Array.isArray(body['invite']) ? body['invite'].map(String) : [];
  for (const userId of invited) setMembership(world, room, { userId, membership: 'invite', sender: user.id, isDirect: body['is_direct'] === true });
  return { room_id: room.id };
};

const upgrade = (asked: Asked): Json => ({ replacement_room: upgradeRoom(asked.world, roomOf(asked), { by: asked.user.id }).id });

const typing = (asked: Asked): Json => {
  if (asked.body['typing'] === true) asked.world.typing.push(roomOf(asked).id);
  return {};
};

const joinedMembers = (asked: Asked): Json => ({ joined: Object.fromEntries(membersOf(roomOf(asked), 'join').map((id) => [id, { display_name: asked.world.users.get(id)?.name }])) });

const members = (asked: Asked): Json => {
  const room = roomOf(asked);
  const leaving = asked.query.get('not_membership');
  return { chunk: [...room.state.values()].filter(({ event }) => event.type === 'm.room.member' && event.content['membership'] !== leaving).map(({ event }) => event) };
};


/** What can be asked about a room. */
export const roomRoutes: readonly Route[] = [
  ['PUT', 'v3/rooms/:x/send/:x/:x', sendEvent],
  ['PUT', 'v3/rooms/:x/redact/:x/:x', redact],
  ['GET', 'v3/rooms/:x/state/:x', getState],
  ['GET', 'v3/rooms/:x/state/:x/:x', getState],
  ['PUT', 'v3/rooms/:x/state/:x', setState],
  ['PUT', 'v3/rooms/:x/state/:x/:x', setState],
  ['GET', 'v3/rooms/:x/messages', messages],
  ['GET', 'v3/rooms/:x/event/:x', getEvent],
  ['GET', 'v1/rooms/:x/relations/:x/:x/:x', relations],
  ['GET', 'v3/rooms/:x/joined_members', joinedMembers],
  ['GET', 'v3/rooms/:x/members', members],
  ['PUT', 'v3/rooms/:x/typing/:x', typing],
  ['POST', 'v3/rooms/:x/receipt/:x/:x', () => ({})],
  ['POST', 'v3/rooms/:x/read_markers', () => ({})],
  ['POST', 'v3/rooms/:x/join', join],
  ['POST', 'v3/join/:x', join],
  ['POST', 'v3/rooms/:x/leave', leave],
  ['POST', 'v3/rooms/:x/invite', invite],
  ['POST', 'v3/createRoom', create],
  ['POST', 'v3/rooms/:x/upgrade', upgrade],
  ['GET', 'v3/joined_rooms', ({ world, user }) => ({ joined_rooms: [...world.rooms.values()].filter((room) => membershipOf(room, user.id) === 'join').map(({ id }) => id) })],
];

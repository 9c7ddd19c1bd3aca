import { list, record } from '../wire.ts';
import type { Json } from '../wire.ts';
import { membersOf, membershipOf, shownTo } from './world.ts';
import type { Device, Room, StoredEvent, World } from './world.ts';

export const tokenOf = (position: number): string => `s${position}`;
export const positionOf = (token: string | null | undefined): number => Number(/^s(\d+)$/.exec(token ?? '')?.[1] ?? 0);

export interface SyncRequest {
  readonly device: Device;
  readonly since: number;
  readonly isInitial: boolean;
  readonly filter: Json;
}

const summaryOf = (room: Room, userId: string): Json => {
  const [joined, invited] = [membersOf(room, 'join'), membersOf(room, 'invite')];
  return { 'm.heroes': [...joined, ...invited].filter((id) => id !== userId).slice(0, 5), 'm.joined_member_count': joined.length, 'm.invited_member_count': invited.length };
};

const timelineLimit = (filter: Json): number => {
  const limit = record(record(filter['room'])?.['timeline'])?.['limit'];
  return typeof limit === 'number' ? limit : 10;
};

/** State that the reader does not know and does not see in the timeline; and, of those who speak there, who they are. */
const stateBefore = (room: Room, timeline: readonly StoredEvent[], from: number): readonly StoredEvent[] => {
  const shown = new Set(timeline.map(({ event }) => event.event_id));
  const speakers = new Set(timeline.map(({ event }) => event.sender));
  return [...room.state.values()].filter(({ at, event }) => !shown.has(event.event_id) && (at > from || (event.type === 'm.room.member' && speakers.has(String(event['state_key'])))));
};

const joinedRoom = (world: World, room: Room, { device, since, isInitial, filter }: SyncRequest): Json | undefined => {
  const joinedAt = room.state.get(`m.room.member ${device.userId}`)?.at ?? 0;
  const isNew = isInitial || joinedAt > since;
  const fresh = room.timeline.filter(({ at }) => isNew || at > since);
  if (fresh.length === 0) return undefined;
  const timeline = fresh.slice(-timelineLimit(filter));
  const state = stateBefore(room, timeline, isNew ? 0 : since);
  return {
    summary: summaryOf(room, device.userId),
    state: { events: state.map((stored) => shownTo(world, stored, device.id)) },
    timeline: { events: timeline.map((stored) => shownTo(world, stored, device.id)), limited: timeline.length < fresh.length, prev_batch: tokenOf((timeline[0]?.at ?? 1) - 1) },
    ephemeral: { events: [] },
    account_data: { events: [] },
    unread_notifications: {},
  };
};

const strippedTypes = new Set(['m.room.create', 'm.room.name', 'm.room.encryption', 'm.room.join_rules', 'm.room.canonical_alias']);

const invitedRoom = (room: Room, userId: string): Json => {
  const known = [...room.state.values()].filter(({ event }) => strippedTypes.has(event.type) || (event.type === 'm.room.member' && event['state_key'] === userId));
  return { invite_state: { events: known.map(({ event }) => ({ type: event.type, state_key: event['state_key'], sender: event.sender, content: event.content })) } };
};

const roomsFor = (world: World, request: SyncRequest): Json => {
  const { userId } = request.device;
  const [join, invite, leave]: Record<string, Json>[] = [{}, {}, {}];
  for (const room of world.rooms.values()) {
    const membership = membershipOf(room, userId);
    const changedAt = room.state.get(`m.room.member ${userId}`)?.at ?? 0;
    const joined = membership === 'join' ? joinedRoom(world, room, request) : undefined;
    if (joined !== undefined && join !== undefined) join[room.id] = joined;
    if (membership === 'invite' && changedAt > request.since && invite !== undefined) invite[room.id] = invitedRoom(room, userId);
    if (membership === 'leave' && changedAt > request.since && !request.isInitial && leave !== undefined) leave[room.id] = { timeline: { events: [], limited: false, prev_batch: tokenOf(changedAt) }, state: { events: [] } };
  }
  return { join, invite, leave };
};

/** People whose devices have changed, of those one shares a room with. */
const changedUsers = (world: World, { device, since }: SyncRequest): readonly string[] => {
  const rooms = [...world.rooms.values()].filter((room) => membershipOf(room, device.userId) === 'join');
  const near = new Set([device.userId, ...rooms.flatMap((room) => membersOf(room, 'join', 'invite'))]);
  const came = rooms.flatMap((room) => membersOf(room, 'join').filter((id) => (room.state.get(`m.room.member ${id}`)?.at ?? 0) > since));
  return [...near].filter((id) => (world.users.get(id)?.keysChangedAt ?? 0) > since || came.includes(id));
};

/** What `/sync` answers for a device: everything after `since`. */
export const syncAnswer = (world: World, request: SyncRequest): Json => {
  const { device, since } = request;
  // Asking from a position on confirms what came before it.
  device.toDevice.splice(0, device.toDevice.findLastIndex(({ at }) => at <= since) + 1);
  const accountData = [...(world.users.get(device.userId)?.accountData ?? [])].filter(([, { at }]) => at > since).map(([type, { content }]) => ({ type, content }));
  return {
    next_batch: tokenOf(world.position),
    rooms: roomsFor(world, request),
    to_device: { events: device.toDevice.map(({ event }) => event) },
    account_data: { events: accountData },
    presence: { events: [] },
    device_lists: { changed: request.isInitial ? [] : changedUsers(world, request), left: [] },
    device_one_time_keys_count: { signed_curve25519: device.oneTimeKeys.size },
    device_unused_fallback_key_types: [...device.fallbackKeys.values()].some(({ used }) => !used) ? ['signed_curve25519'] : [],
  };
};

/** Whether the answer tells anything, so that nobody has to wait for it. */
export const hasNews = (answer: Json): boolean => {
  const rooms = record(answer['rooms']) ?? {};
  const events = (part: string): number => list(record(answer[part])?.['events']).length;
  return Object.values(rooms).some((group) => Object.keys(record(group) ?? {}).length > 0) || events('to_device') > 0 || events('account_data') > 0 || list(record(answer['device_lists'])?.['changed']).length > 0;
};

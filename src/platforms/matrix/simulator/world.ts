import { randomUUID } from 'node:crypto';
import type { Json } from '../wire.ts';

/** An event as the homeserver keeps it; `at` is its place in the stream. */
export interface StoredEvent {
  readonly at: number;
  readonly roomId: string;
  readonly event: Json & { readonly event_id: string; readonly type: string; readonly sender: string; readonly content: Json };
  /** Only the device that sent it is told its transaction. */
  readonly txn?: { readonly device: string; readonly id: string };
}

export interface Room {
  readonly id: string;
  /** By type and state key. */
  readonly state: Map<string, StoredEvent>;
  readonly timeline: StoredEvent[];
}

export interface Device {
  readonly id: string;
  readonly userId: string;
  readonly toDevice: { readonly at: number; readonly event: Json }[];
  readonly oneTimeKeys: Map<string, unknown>;
  readonly fallbackKeys: Map<string, { readonly key: unknown; used: boolean }>;
  keys?: Json;
}

export interface User {
  readonly id: string;
  name: string;
  readonly devices: Map<string, Device>;
  readonly accountData: Map<string, { readonly at: number; readonly content: Json }>;
  readonly crossSigning: Map<string, Json>;
  keysChangedAt: number;
  password?: string;
}

export interface Token {
  readonly userId: string;
  readonly deviceId: string;
}

export interface StoredFile {
  readonly bytes: Uint8Array;
  readonly mime: string;
  readonly name: string | undefined;
}

/** Everything that one homeserver knows. */
export interface World {
  readonly server: string;
  readonly users: Map<string, User>;
  readonly rooms: Map<string, Room>;
  readonly tokens: Map<string, Token>;
  /** Tokens that were ended, and whether their device stays. */
  readonly ended: Map<string, { readonly soft: boolean }>;
  readonly files: Map<string, StoredFile>;
  readonly sent: Map<string, string>;
  readonly filters: Map<string, Json>;
  readonly typing: string[];
  position: number;
  /** Told after every change. */
  readonly watchers: Set<() => void>;
}

export const newWorld = (server: string): World => ({
  server,
  users: new Map(),
  rooms: new Map(),
  tokens: new Map(),
  ended: new Map(),
  files: new Map(),
  sent: new Map(),
  filters: new Map(),
  typing: [],
  position: 1,
  watchers: new Set(),
});

/** The next place in the stream; whoever waits looks again. */
export const advance = (world: World): number => {
  world.position += 1;
  for (const watcher of world.watchers) watcher();
  return world.position;
};

export const addUser = (world: World, id: string, name: string, password?: string): User => {
  const known = world.users.get(id);
  if (known !== undefined) return known;
  const user: User = { id, name, devices: new Map(), accountData: new Map(), crossSigning: new Map(), keysChangedAt: 0, ...(password !== undefined && { password }) };
  world.users.set(id, user);
  return user;
};

export const addDevice = (user: User, id: string): Device => {
  const known = user.devices.get(id);
  if (known !== undefined) return known;
  const device: Device = { id, userId: user.id, toDevice: [], oneTimeKeys: new Map(), fallbackKeys: new Map() };
  user.devices.set(id, device);
  return device;
};

export interface NewEvent {
  readonly type: string;
  readonly sender: string;
  readonly content: Json;
  readonly stateKey?: string;
  readonly txn?: StoredEvent['txn'];
  readonly more?: Json;
}

export const stateName = (type: string, stateKey: string): string => `${type} ${stateKey}`;

const newEventId = (): string => `$${randomUUID().replaceAll('-', '')}${randomUUID().slice(0, 11).replaceAll('-', '')}`;

/** Puts an event into a room. */
export const addEvent = (world: World, room: Room, { type, sender, content, stateKey, txn, more }: NewEvent): StoredEvent => {
  const event = { event_id: newEventId(), type, sender, content, origin_server_ts: Date.now(), room_id: room.id, ...(stateKey !== undefined && { state_key: stateKey }), ...more };
  const stored: StoredEvent = { at: world.position + 1, roomId: room.id, event, ...(txn !== undefined && { txn }) };
  room.timeline.push(stored);
  if (stateKey !== undefined) room.state.set(stateName(type, stateKey), stored);
  advance(world);
  return stored;
};

export const membershipOf = (room: Room, userId: string): string | undefined => room.state.get(stateName('m.room.member', userId))?.event.content['membership'] as string | undefined;

export const membersOf = (room: Room, ...memberships: readonly string[]): readonly string[] =>
  [...room.state.values()].filter(({ event }) => event.type === 'm.room.member' && memberships.includes(String(event.content['membership']))).map(({ event }) => String(event['state_key']));

export const setMembership = (world: World, room: Room, { userId, membership, sender = userId, isDirect }: { userId: string; membership: string; sender?: string; isDirect?: boolean }): StoredEvent => {
  const displayname = world.users.get(userId)?.name;
  return addEvent(world, room, { type: 'm.room.member', sender, stateKey: userId, content: { membership, ...(displayname !== undefined && { displayname }), ...(isDirect === true && { is_direct: true }) } });
};

export interface NewRoom {
  readonly id?: string;
  readonly creator: string;
  readonly name?: string;
  readonly isSpace?: boolean;
  readonly encrypted?: boolean;
  readonly joinRule?: 'invite' | 'public';
  /** The room whose place it takes. */
  readonly predecessor?: string;
}

export const createRoom = (world: World, { id, creator, name, isSpace, encrypted, joinRule = 'invite', predecessor }: NewRoom): Room => {
  const room: Room = { id: id ?? `!${randomUUID().slice(0, 18).replaceAll('-', '')}:${world.server}`, state: new Map(), timeline: [] };
  world.rooms.set(room.id, room);
  addEvent(world, room, { type: 'm.room.create', sender: creator, stateKey: '', content: { room_version: '11', ...(isSpace === true && { type: 'm.space' }), ...(predecessor !== undefined && { predecessor: { room_id: predecessor } }) } });
  setMembership(world, room, { userId: creator, membership: 'join' });
  addEvent(world, room, { type: 'm.room.power_levels', sender: creator, stateKey: '', content: { users: { [creator]: 100 } } });
  addEvent(world, room, { type: 'm.room.join_rules', sender: creator, stateKey: '', content: { join_rule: joinRule } });
  addEvent(world, room, { type: 'm.room.history_visibility', sender: creator, stateKey: '', content: { history_visibility: 'shared' } });
  if (name !== undefined) addEvent(world, room, { type: 'm.room.name', sender: creator, stateKey: '', content: { name } });
  if (encrypted === true) addEvent(world, room, { type: 'm.room.encryption', sender: creator, stateKey: '', content: { algorithm: 'm.megolm.v1.aes-sha2' } });
  return room;
};

/** The event with what the homeserver adds for one reader: its transaction, and what it became since. */
export const shownTo = (world: World, { event, txn, roomId }: StoredEvent, device: string | undefined): Json => {
  const redaction = world.rooms.get(roomId)?.timeline.find((other) => other.event.type === 'm.room.redaction' && other.event['redacts'] === event.event_id);
  const unsigned = { ...(txn !== undefined && txn.device === device && { transaction_id: txn.id }), ...(redaction !== undefined && { redacted_because: redaction.event }) };
  return { ...event, ...(redaction !== undefined && event['state_key'] === undefined && { content: {} }), ...(Object.keys(unsigned).length > 0 && { unsigned }) };
};

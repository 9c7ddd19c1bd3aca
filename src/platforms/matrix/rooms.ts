import type { AccountData } from '../contract.ts';
import { integer, list, readState, record, text, texts } from './wire.ts';
import type { Json, StateEvent } from './wire.ts';

/** What the gateway remembers about a room, because the homeserver tells it only once. */
export interface RoomFacts {
  /** Never becomes false again: no server can talk us out of it. */
  readonly encrypted: boolean;
  readonly isSpace: boolean;
  readonly name?: string;
  readonly alias?: string;
  readonly topic?: string;
  /** Joined and invited, ourselves among them; unknown for some homeservers. */
  readonly members?: number;
  /** Who stands for a room without a name. */
  readonly heroes: readonly string[];
  /** The room that its admins have put in its place, and who of them. */
  readonly replacement?: { readonly roomId: string; readonly by: string };
}

export const unknownRoom: RoomFacts = { encrypted: false, isSpace: false, heroes: [] };

const roomPrefix = 'room:';
const directKey = 'direct';
/** From a room to the one that we have followed it to, and back. */
const successorPrefix = 'successor:';
const predecessorPrefix = 'predecessor:';

const readFacts = (value: string): RoomFacts => ({ ...unknownRoom, ...(JSON.parse(value) as Partial<RoomFacts>) });

const withOptional = <Key extends 'name' | 'alias' | 'topic'>(facts: RoomFacts, key: Key, value: string | undefined): RoomFacts => {
  const { [key]: _before, ...rest } = facts;
  return value === undefined || value.trim() === '' ? (rest as RoomFacts) : { ...facts, [key]: value };
};

const applyState = (facts: RoomFacts, { type, stateKey, content, sender }: StateEvent): RoomFacts => {
  if (stateKey !== '') return facts;
  switch (type) {
    case 'm.room.encryption':
      return { ...facts, encrypted: true };
    case 'm.room.create':
      return { ...facts, isSpace: text(content['type']) === 'm.space' };
    case 'm.room.name':
      return withOptional(facts, 'name', text(content['name']));
    case 'm.room.canonical_alias':
      return withOptional(facts, 'alias', text(content['alias']));
    case 'm.room.topic':
      return withOptional(facts, 'topic', text(content['topic']));
    case 'm.room.tombstone': {
      const roomId = text(content['replacement_room']);
      return roomId === undefined || sender === undefined ? facts : { ...facts, replacement: { roomId, by: sender } };
    }
    default:
      return facts;
  }
};

const applySummary = (facts: RoomFacts, summary: Json | undefined): RoomFacts => {
  const [joined, invited] = [integer(summary?.['m.joined_member_count']), integer(summary?.['m.invited_member_count'])];
  const heroes = texts(summary?.['m.heroes']);
  return { ...facts, ...(joined !== undefined && { members: joined + (invited ?? 0) }), ...(heroes.length > 0 && { heroes }) };
};

/** The facts after what a sync says about a joined room. */
export const applySync = (facts: RoomFacts, room: Json): RoomFacts => {
  const events = [...list(record(room['state'])?.['events']), ...list(record(room['timeline'])?.['events'])];
  const states = events.map(readState).filter((state) => state !== undefined);
  return applySummary(states.reduce(applyState, facts), record(room['summary']));
};

/** What people call a room. */
export const roomName = (facts: RoomFacts): string | undefined => facts.name ?? facts.alias ?? (facts.heroes.length > 0 ? facts.heroes.join(', ') : undefined);

export interface Rooms {
  /** What is remembered, also by another process. */
  facts(roomId: string): Promise<RoomFacts | undefined>;
  /** Durable when it resolves. */
  save(roomId: string, facts: RoomFacts): Promise<void>;
  /** Rooms that our account data calls direct chats. */
  direct(): Promise<ReadonlySet<string>>;
  /** The same as our account data has it: rooms by person. */
  directContent(): Promise<Json>;
  saveDirect(content: Json): Promise<void>;
  /** We have followed a room to the one that has taken its place. Durable when it resolves. */
  follow(from: string, to: string): Promise<void>;
  /** Where we have followed a room to. */
  successor(roomId: string): Promise<string | undefined>;
  /** A room and those whose place it has taken, as far as we have followed them. What a room says of itself proves nothing. */
  lineage(roomId: string): Promise<readonly string[]>;
  all(): Promise<readonly { readonly id: string; readonly facts: RoomFacts }[]>;
}

const roomsOf = (content: Json): ReadonlySet<string> => new Set(Object.values(content).flatMap(texts));

export const newRooms = (data: AccountData): Rooms => {
  const known = new Map<string, RoomFacts>();
  let direct: Json | undefined;
  const lineages = new Map<string, readonly string[]>();
  const directContent = async (): Promise<Json> => {
    const stored = direct === undefined ? await data.get(directKey) : undefined;
    return (direct ??= stored === undefined ? {} : (record(JSON.parse(stored)) ?? {}));
  };
  return {
    async facts(roomId) {
      const cached = known.get(roomId);
      if (cached !== undefined) return cached;
      const stored = await data.get(roomPrefix + roomId);
      if (stored !== undefined) known.set(roomId, readFacts(stored));
      return known.get(roomId);
    },
    async save(roomId, facts) {
      const before = known.get(roomId);
      // Whoever saves may have looked before somebody else found out.
      const after: RoomFacts = { ...facts, encrypted: facts.encrypted || before?.encrypted === true };
      const value = JSON.stringify(after);
      if (before !== undefined && JSON.stringify(before) === value) return;
      known.set(roomId, after);
      try {
        await data.set(roomPrefix + roomId, value);
      } catch (error) {
        known.delete(roomId);
        throw error;
      }
    },
    direct: async () => roomsOf(await directContent()),
    directContent,
    async saveDirect(content) {
      await data.set(directKey, JSON.stringify(content));
      direct = content;
    },
    async follow(from, to) {
      await data.set(predecessorPrefix + to, from);
      await data.set(successorPrefix + from, to);
      lineages.clear();
    },
    successor: (roomId) => data.get(successorPrefix + roomId),
    async lineage(roomId) {
      const known = lineages.get(roomId);
      if (known !== undefined) return known;
      const found = [roomId];
      for (let before = await data.get(predecessorPrefix + roomId); before !== undefined && !found.includes(before); before = await data.get(predecessorPrefix + before)) found.push(before);
      lineages.set(roomId, found);
      return found;
    },
    all: async () => (await data.list(roomPrefix)).map(({ key, value }) => ({ id: key.slice(roomPrefix.length), facts: readFacts(value) })),
  };
};

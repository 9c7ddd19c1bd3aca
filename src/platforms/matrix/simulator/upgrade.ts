import { addEvent, createRoom, setMembership, stateName } from './world.ts';
import type { Room, World } from './world.ts';

export interface Upgrade {
  readonly by: string;
  /** The new room has no name, encryption or rule of its own unless this says so. */
  readonly encrypted?: boolean;
  readonly joinRule?: 'invite' | 'public';
  /** Who is in the new room at once, and who is only invited. */
  readonly joins?: readonly string[];
  readonly invites?: readonly string[];
}

const contentOf = (room: Room, type: string): Readonly<Record<string, unknown>> => room.state.get(stateName(type, ''))?.event.content ?? {};

const textIn = (room: Room, type: string, key: string): string | undefined => {
  const value = contentOf(room, type)[key];
  return typeof value === 'string' ? value : undefined;
};

/** The first half of an upgrade: the room that is to take the place of another. */
export const prepareUpgrade = (world: World, old: Room, { by, encrypted, joinRule, joins = [], invites = [] }: Upgrade): Room => {
  const name = textIn(old, 'm.room.name', 'name');
  const room = createRoom(world, {
    creator: by,
    predecessor: old.id,
    encrypted: encrypted ?? old.state.has(stateName('m.room.encryption', '')),
    joinRule: joinRule ?? (textIn(old, 'm.room.join_rules', 'join_rule') === 'public' ? 'public' : 'invite'),
    ...(name !== undefined && { name }),
  });
  for (const userId of joins) setMembership(world, room, { userId, membership: 'join' });
  for (const userId of invites) setMembership(world, room, { userId, membership: 'invite', sender: by });
  return room;
};

/** The second half: the old room points to the new one, and ordinary people cannot write there any more. */
export const closeUpgraded = (world: World, old: Room, to: Room, by: string): void => {
  addEvent(world, old, { type: 'm.room.tombstone', sender: by, stateKey: '', content: { body: 'This room has been replaced', replacement_room: to.id } });
  addEvent(world, old, { type: 'm.room.power_levels', sender: by, stateKey: '', content: { ...contentOf(old, 'm.room.power_levels'), events_default: 50, invite: 50 } });
};

/** What Synapse does for `/upgrade`, and clients after it. */
export const upgradeRoom = (world: World, old: Room, upgrade: Upgrade): Room => {
  const room = prepareUpgrade(world, old, upgrade);
  closeUpgraded(world, old, room, upgrade.by);
  return room;
};

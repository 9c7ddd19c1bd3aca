import type { Directory, ListedChannel } from '../contract.ts';
import type { MatrixApi } from './api.ts';
import { roomName, unknownRoom } from './rooms.ts';
import type { RoomFacts, Rooms } from './rooms.ts';
import { text } from './wire.ts';

/** What a room is called that was never heard of, because the gateway has not followed it yet. */
const askFacts = async (api: MatrixApi, roomId: string, signal: AbortSignal): Promise<RoomFacts> => {
  const [create, name, members] = [await api.state(roomId, 'm.room.create', signal), await api.state(roomId, 'm.room.name', signal), await api.joinedMembers(roomId, signal)];
  const title = text(name?.['name']);
  return { ...unknownRoom, isSpace: text(create?.['type']) === 'm.space', members: members.size, heroes: [...members.keys()], ...(title !== undefined && title !== '' && { name: title }) };
};

/** Every room that the account is in. */
export const newDirectory = (api: MatrixApi, rooms: Rooms): Directory => ({
  async list(signal) {
    const direct = await rooms.direct();
    const listed: ListedChannel[] = [];
    for (const id of await api.joinedRooms(signal)) {
      if ((await rooms.successor(id)) !== undefined) continue;
      const facts = (await rooms.facts(id)) ?? (await askFacts(api, id, signal));
      if (facts.isSpace) continue;
      const isDirect = direct.has(id) || (facts.members ?? 3) <= 2;
      listed.push({ id, name: (roomName(facts) ?? id).replace(/^#+/, ''), type: isDirect ? 'dm' : 'group' });
    }
    return listed;
  },
});

import type * as Library from '@matrix-org/matrix-sdk-crypto-wasm';
import { newChains } from '../../../lib/chains.ts';
import { list, record, texts } from '../wire.ts';
import type { Json } from '../wire.ts';
import { respond } from './routes.ts';
import { syncAnswer } from './sync-answer.ts';
import { addDevice, addUser, membersOf } from './world.ts';
import type { Device, Room, StoredEvent, World } from './world.ts';

type Machine = Library.OlmMachine;
type Request = Awaited<ReturnType<Machine['outgoingRequests']>>[number] | Library.KeysClaimRequest | Library.ToDeviceRequest;

/** A person whose client encrypts, with keys of its own. */
interface Person {
  readonly machine: Machine;
  readonly device: Device;
  since: number;
}

/** People in encrypted rooms: what they write is sealed, and what is written to them they can read. */
export interface SealedPeople extends Disposable {
  /** What the person's client sends in place of the content, when the bot's device can be written to. */
  seal(room: Room, sender: string, type: string, content: Json): Promise<Json>;
  /** What an event says to people; undefined while nobody could read it. */
  read(stored: StoredEvent): Json | undefined;
}

const addressOf = (library: typeof Library, request: Request): readonly [method: string, path: string] => {
  switch (request.type) {
    case library.RequestType.KeysUpload:
      return ['POST', '/_matrix/client/v3/keys/upload'];
    case library.RequestType.KeysQuery:
      return ['POST', '/_matrix/client/v3/keys/query'];
    case library.RequestType.KeysClaim:
      return ['POST', '/_matrix/client/v3/keys/claim'];
    default: {
      const { event_type: type, txn_id: txn } = request as Library.ToDeviceRequest;
      return ['PUT', `/_matrix/client/v3/sendToDevice/${encodeURIComponent(type)}/${txn}`];
    }
  }
};

const call = async (library: typeof Library, world: World, { machine, device }: Person, request: Request): Promise<void> => {
  const [method, path] = addressOf(library, request);
  const answer = respond({ world, device, method, path, query: new URLSearchParams(), body: JSON.parse(request.body) as Json });
  if (request.id !== undefined) await machine.markRequestAsSent(request.id, request.type, JSON.stringify(answer));
};

const callAll = async (library: typeof Library, world: World, person: Person): Promise<void> => {
  for (const request of await person.machine.outgoingRequests()) await call(library, world, person, request);
};

/** The person's client asks the homeserver for news and takes the keys out of them. */
const follow = async (library: typeof Library, world: World, person: Person): Promise<void> => {
  const answer = syncAnswer(world, { device: person.device, since: person.since, isInitial: false, filter: {} });
  person.since = world.position;
  const users = texts(record(answer['device_lists'])?.['changed']).map((id) => new library.UserId(id));
  const counts = new Map(Object.entries(record(answer['device_one_time_keys_count']) ?? {}).map(([name, count]) => [name, Number(count)]));
  const settings = new library.DecryptionSettings(library.TrustRequirement.Untrusted);
  await person.machine.receiveSyncChanges(JSON.stringify(list(record(answer['to_device'])?.['events'])), new library.DeviceLists(users, []), counts, undefined, settings);
  await callAll(library, world, person);
};

const isReachable = (world: World, userId: string): boolean => [...(world.users.get(userId)?.devices.values() ?? [])].some(({ keys, oneTimeKeys, fallbackKeys }) => keys !== undefined && oneTimeKeys.size + fallbackKeys.size > 0);

/** Waits until the account has published its keys: before that no client could write to it. */
const reachable = (world: World, userId: string): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (!isReachable(world, userId)) return;
      world.watchers.delete(look);
      resolve();
    };
    world.watchers.add(look);
    look();
  });

const decrypt = async (library: typeof Library, { machine }: Person, { event, roomId }: StoredEvent): Promise<Json | undefined> => {
  try {
    const settings = new library.DecryptionSettings(library.TrustRequirement.Untrusted);
    const { event: inside } = await machine.decryptRoomEvent(JSON.stringify(event), new library.RoomId(roomId), settings);
    return record(record(JSON.parse(inside))?.['content']);
  } catch (error) {
    if (error instanceof library.MegolmDecryptionError) return undefined;
    throw error;
  }
};

export const newSealedPeople = async (world: World, bot: string): Promise<SealedPeople> => {
  const library = await import('@matrix-org/matrix-sdk-crypto-wasm');
  await library.initAsync();
  const people = new Map<string, Person>();
  const chains = newChains();
  const shown = new Map<string, Json>();

  const personOf = async (userId: string): Promise<Person> => {
    const known = people.get(userId);
    if (known !== undefined) return known;
    const device = addDevice(addUser(world, userId, userId), `PHONE${people.size}`);
    const machine = await library.OlmMachine.initialize(new library.UserId(userId), new library.DeviceId(device.id));
    const person: Person = { machine, device, since: world.position };
    people.set(userId, person);
    await callAll(library, world, person);
    return person;
  };

  const readAll = async (): Promise<void> => {
    const sealed = [...world.rooms.values()].flatMap(({ timeline }) => timeline).filter(({ event }) => event.type === 'm.room.encrypted' && event.sender === bot && !shown.has(event.event_id));
    for (const stored of sealed) {
      for (const person of people.values()) {
        const content = await decrypt(library, person, stored);
        if (content !== undefined) shown.set(stored.event.event_id, content);
      }
    }
  };
  const catchUp = async (): Promise<void> => {
    for (const person of people.values()) await follow(library, world, person);
    await readAll();
  };
  let isWaiting = false;
  const changed = (): void => {
    if (isWaiting) return;
    isWaiting = true;
    setImmediate(() => {
      isWaiting = false;
      void chains.run('', catchUp);
    });
  };
  world.watchers.add(changed);
  for (const room of world.rooms.values()) for (const userId of membersOf(room, 'join').filter((id) => id !== bot)) await personOf(userId);

  const shareKey = async ({ machine, device }: Person, roomId: Library.RoomId, members: readonly string[]): Promise<void> => {
    const users = () => members.map((id) => new library.UserId(id));
    const person: Person = { machine, device, since: 0 };
    await machine.updateTrackedUsers(users());
    await call(library, world, person, machine.queryKeysForUsers(users()));
    const missing = await machine.getMissingSessions(users());
    if (missing !== null && missing !== undefined) await call(library, world, person, missing);
    for (const request of await machine.shareRoomKey(roomId, users(), new library.EncryptionSettings())) await call(library, world, person, request);
  };

  return {
    seal: async (room, sender, type, content) => {
      await reachable(world, bot);
      return chains.run('', async () => {
        const person = await personOf(sender);
        await follow(library, world, person);
        const roomId = (): Library.RoomId => new library.RoomId(room.id);
        await shareKey(person, roomId(), membersOf(room, 'join'));
        return JSON.parse(await person.machine.encryptRoomEvent(roomId(), type, JSON.stringify(content))) as Json;
      });
    },
    read: ({ event }) => (event.type === 'm.room.encrypted' ? shown.get(event.event_id) : event.content),
    [Symbol.dispose]: () => void world.watchers.delete(changed),
  };
};

import type { PlatformSimulator, SimulatedMessage } from '../simulator.ts';
import recorded from './fixtures/recorded.json' with { type: 'json' };
import { newFaults } from '../simulator-faults.ts';
import type { SimulatorServer } from '../simulator-server.ts';
import { contentOf, enter } from './simulator/people.ts';
import { issueToken } from './simulator/routes.ts';
import { newSealedPeople } from './simulator/sealed-people.ts';
import { startServer } from './simulator/server.ts';
import type { CallRecord, ServerContext } from './simulator/server.ts';
import { closeUpgraded, prepareUpgrade } from './simulator/upgrade.ts';
import type { Upgrade } from './simulator/upgrade.ts';
import { visibleMessages } from './simulator/visible.ts';
import { addEvent, addUser, advance, createRoom, newWorld, setMembership } from './simulator/world.ts';
import type { Room, StoredEvent, World } from './simulator/world.ts';
import type { Json } from './wire.ts';

export interface MatrixSimulatorOptions {
  /** Every room is encrypted, and the account logs in with a password. */
  readonly encrypted?: boolean;
  readonly port?: number;
}

/** A homeserver over HTTP, with what Matrix alone has. */
export interface MatrixSimulator extends PlatformSimulator {
  readonly baseUrl: string;
  readonly bot: { readonly id: string; readonly name: string; readonly password: string };
  readonly world: World;
  /** Calls in the order they came. */
  readonly log: readonly CallRecord[];
  /** Logs a person in; answers their token. */
  logIn(userId: string, deviceId: string): string;
  /** A person puts any event into a room; answers its id. */
  put(roomId: string, sender: string, type: string, content: Json): string;
  /** Somebody invites the account into a room of theirs. */
  invite(invitation: { inviter: string; name?: string; isDirect?: boolean; isSpace?: boolean }): Room;
  /** An admin puts another room in the place of one. `close` says so in the old one, which may come later than the room itself. */
  upgrade(roomId: string, upgrade: Upgrade): { readonly room: Room; close(): void };
  /** Ends every session of the account. */
  logOut(soft: boolean): void;
  /** Answers every sync at once and with nothing. */
  deaf(isDeaf: boolean): void;
  goOffline(): Promise<void>;
  goOnline(): Promise<void>;
}

const server = 'sim.test';
const places: PlatformSimulator['places'] = [
  { chatId: `!direct:${server}`, chatType: 'dm', senderId: `@alice:${server}` },
  { chatId: `!group:${server}`, chatType: 'group', senderId: `@alice:${server}` },
];

const fixtures = Object.entries(recorded.events).map(([name, payload]) => ({ name, payload }));

const bot = { id: `@hermes:${server}`, name: 'Hermes', password: 'simulated-matrix-password' };

const matrixControls = (context: ServerContext, homeserver: SimulatorServer) => {
  const { world } = context;
  return {
    bot,
    world,
    log: context.log,
    logIn: (userId: string, deviceId: string) => issueToken(world, userId, deviceId),
    put: (roomId: string, sender: string, type: string, content: Json) => addEvent(world, roomOf(world, roomId), { type, sender, content }).event.event_id,
    invite({ inviter, name, isDirect = false, isSpace = false }: Parameters<MatrixSimulator['invite']>[0]) {
      addUser(world, inviter, inviter);
      const room = createRoom(world, { creator: inviter, isSpace, ...(name !== undefined && { name }) });
      setMembership(world, room, { userId: bot.id, membership: 'invite', sender: inviter, isDirect });
      return room;
    },
    upgrade(roomId: string, upgrade: Upgrade) {
      const old = roomOf(world, roomId);
      const room = prepareUpgrade(world, old, upgrade);
      return { room, close: () => closeUpgraded(world, old, room, upgrade.by) };
    },
    logOut(soft: boolean) {
      for (const [token, { userId }] of world.tokens) {
        if (userId !== bot.id) continue;
        world.tokens.delete(token);
        world.ended.set(token, { soft });
      }
      for (const interrupt of context.interrupts) interrupt();
    },
    deaf(isDeaf: boolean) {
      context.deaf = isDeaf;
      for (const interrupt of context.interrupts) interrupt();
    },
    goOffline: () => homeserver.goOffline(),
    goOnline: () => homeserver.goOnline(),
  };
};

const roomOf = (world: World, roomId: string): Room => world.rooms.get(roomId) ?? missing(`no room ${roomId}`);

const missing = (what: string): never => {
  throw new Error(what);
};

/** Delivers an event once more, under the same id. */
const repeat = (world: World, eventId: string): void => {
  for (const room of world.rooms.values()) {
    const stored = room.timeline.find(({ event }) => event.event_id === eventId);
    if (stored === undefined) continue;
    room.timeline.push({ ...stored, at: world.position + 1 });
    advance(world);
    return;
  }
  missing(`no event ${eventId} to deliver again`);
};

/** Starts a homeserver with one account for us and some people, on 127.0.0.1. */
export const startMatrixSimulator = async ({ encrypted = false, port = 0 }: MatrixSimulatorOptions = {}): Promise<MatrixSimulator> => {
  const world = newWorld(server);
  addUser(world, bot.id, bot.name, bot.password);
  for (const place of places) enter(world, place, bot.id, encrypted);
  const sealed = encrypted ? await newSealedPeople(world, bot.id) : undefined;
  const said: StoredEvent[] = [];
  let confirmed = 0;
  const context: ServerContext = { world, faults: newFaults(), log: [], deaf: false, interrupts: new Set(), onSince: (device, position) => void (device.userId === bot.id && (confirmed = Math.max(confirmed, position))) };
  const homeserver = await startServer(context, port);
  const baseUrl = `http://127.0.0.1:${homeserver.port}`;
  const token = encrypted ? undefined : issueToken(world, bot.id, 'HERMES');
  const options = { homeserver: baseUrl, ...(token === undefined ? { user_id: bot.id, password: bot.password } : { access_token: token }) };

  const say = async (message: SimulatedMessage): Promise<string> => {
    const room = enter(world, message, bot.id, encrypted);
    const content = contentOf(world, message, bot, encrypted);
    const type = 'm.room.message';
    if (message.own === true) return addEvent(world, room, { type, sender: bot.id, content }).event.event_id;
    const event = sealed === undefined ? { type, content } : { type: 'm.room.encrypted', content: await sealed.seal(room, message.senderId, type, content) };
    const stored = addEvent(world, room, { ...event, sender: message.senderId });
    said.push(stored);
    return stored.event.event_id;
  };

  return {
    ...matrixControls(context, homeserver),
    baseUrl,
    options,
    badOptions: token === undefined ? { ...options, password: 'a-wrong-matrix-password' } : { ...options, access_token: 'syt_wrong_token' },
    get secrets() {
      return [...(token === undefined ? [bot.password] : []), ...world.tokens.keys()];
    },
    fixtures,
    places,
    say,
    async replay(payload) {
      const { event_id: _id, type, sender, content, ...more } = payload as Json & { type: string; sender: string; content: Json };
      addEvent(world, roomOf(world, places[0]?.chatId ?? ''), { type, sender, content, more });
    },
    redeliver: async (nativeId) => repeat(world, nativeId),
    async sendUnknownEvent() {
      addEvent(world, roomOf(world, places[0]?.chatId ?? ''), { type: 'org.example.hologram', sender: `@alice:${server}`, content: { note: 'of a kind that does not exist yet' } });
    },
    acknowledged: () => said.filter(({ at }) => at <= confirmed).length,
    visible(chatId) {
      const room = world.rooms.get(chatId);
      return room === undefined ? [] : visibleMessages(world, room, bot.id, (stored) => (sealed === undefined ? stored.event.content : sealed.read(stored)));
    },
    typing: () => world.typing,
    press: async () => missing('Matrix has no buttons'),
    fail(plan) {
      context.faults.plan(plan);
      if (plan.what === 'receive' || plan.what === 'any') for (const interrupt of context.interrupts) interrupt();
    },
    async [Symbol.asyncDispose]() {
      sealed?.[Symbol.dispose]();
      await homeserver[Symbol.asyncDispose]();
    },
  };
};

import { systemClock } from '../../lib/clock.ts';
import type { FaultPlan, PlatformSimulator, SimulatedMessage } from '../simulator.ts';
import recorded from './fixtures/recorded.json' with { type: 'json' };
import { Calls, signedCall } from './simulator/calls.ts';
import { Deliveries } from './simulator/deliveries.ts';
import { newFaults } from '../simulator-faults.ts';
import { eventOf, press, rewrite, slash, speak, takeBack } from './simulator/people.ts';
import type { Scene } from './simulator/people.ts';
import { Refusal } from './simulator/refusal.ts';
import { startServer } from './simulator/server.ts';
import type { CallRecord, ServerContext } from './simulator/server.ts';
import { Sockets } from './simulator/sockets.ts';
import { enter, newWorld } from './simulator/world.ts';
import type { SimulatedTeam } from './simulator/world.ts';
import type { PayloadKind } from './take.ts';
import type { Json } from './wire.ts';

export interface SlackSimulatorOptions {
  /** How the account in `options` receives. */
  readonly mode?: 'socket' | 'http';
}

interface At {
  readonly chatId: string;
  readonly messageId: string;
}

/** Slack over HTTP and WebSocket, with what Slack alone has. */
export interface SlackSimulator extends PlatformSimulator {
  readonly baseUrl: string;
  readonly sockets: Sockets;
  /** Calls in the order they came. */
  readonly log: readonly CallRecord[];
  /** Calls that Slack's own description does not allow; a test wants none. */
  violations(): readonly string[];
  /** Another workspace with the app installed. */
  install(team: SimulatedTeam): void;
  /** Somebody speaks in the workspace of that id. */
  sayIn(teamId: string, message: SimulatedMessage): string;
  /** A person changes a message; without words only a preview is added. */
  edit(at: At, words?: string): void;
  takeBack(at: At): void;
  react(at: At & { readonly senderId: string; readonly name: string; readonly added: boolean }): void;
  slash(said: { readonly chatId: string; readonly senderId: string; readonly command: string; readonly text: string }): string;
  /** From now on what happens is kept, and not delivered. */
  deafen(deaf: boolean): void;
  /** Any payload of the Events API. */
  deliver(event: Json): void;
  /** Every call about the channel is refused. */
  refuseChannel(channelId: string, error: string): void;
  limitChannel(channelId: string, retryAfterMs: number | undefined): void;
  refuseMethod(method: string, refusal: { readonly error: string; readonly retryAfterMs?: number; readonly more?: Json } | undefined): void;
  /** The app was installed without these rights. */
  withhold(...scopes: readonly string[]): void;
  /** What one person alone was shown in a channel. */
  whispered(channelId: string): readonly { readonly reader: string; readonly text: string }[];
  reactionsOn(channelId: string, ts: string): readonly string[];
  goOffline(): Promise<void>;
  goOnline(): Promise<void>;
}

const firstTeam: SimulatedTeam = { id: 'T00FAKE00AA', name: 'Acme', token: 'xoxb-simulated-bot-token-AAAAAAAAAAAA', botUserId: 'U00FAKEBOT01', botId: 'B00FAKEBOT01' };
const appToken = 'xapp-1-simulated-app-token-BBBBBBBBBBBB';
const signingSecret = 'simulated-signing-secret-CCCC';

const places: PlatformSimulator['places'] = [
  { chatId: 'D0PERSON01', chatType: 'dm', senderId: 'U0PERSON01' },
  { chatId: 'C0GENERAL1', chatType: 'group', senderId: 'U0PERSON01' },
];

const kindOf = (payload: Json): PayloadKind => (payload['type'] === 'event_callback' ? 'events_api' : payload['command'] === undefined ? 'interactive' : 'slash_commands');

const pingEveryMs = 5_000;

/** What went wrong with receiving is seen on the sockets that are open, or on the next attempt to open one. */
const breakReceiving = (sockets: Sockets, { fault }: FaultPlan): boolean => {
  switch (fault.type) {
    case 'refuse':
      sockets.cut();
      return sockets.opened > 0;
    case 'hang':
      sockets.mute();
      return true;
    case 'garbage':
      sockets.say('<html>not Slack</html>');
      return true;
    default:
      return false;
  }
};

const happenings = (scene: Scene, deliveries: Deliveries) => {
  const { world } = scene;
  const publish = (kind: PayloadKind, payload: Json, nativeId?: string): void => deliveries.publish({ kind, payload, retry: 0 }, nativeId);
  const say = (where: Scene, message: SimulatedMessage): string => {
    const { message: said, event } = speak(where, message);
    publish('events_api', eventOf(where, event), said.ts);
    // Slack reports a mention in a channel twice, under one id.
    if (message.mention === true && message.chatType !== 'dm') publish('events_api', eventOf(where, { ...event, type: 'app_mention' }));
    return said.ts;
  };
  return {
    say,
    publish,
    edit: (at: At, words?: string) => publish('events_api', eventOf(scene, rewrite(scene, at, words))),
    takeBack: (at: At) => publish('events_api', eventOf(scene, takeBack(scene, at))),
    react: ({ chatId, messageId, senderId, name, added }: Parameters<SlackSimulator['react']>[0]) =>
      publish('events_api', eventOf(scene, { type: added ? 'reaction_added' : 'reaction_removed', user: senderId, reaction: name, item: { type: 'message', channel: chatId, ts: messageId }, event_ts: world.nextTs() })),
    slash(said: Parameters<SlackSimulator['slash']>[0]): string {
      const { nativeId, payload } = slash(scene, said);
      publish('slash_commands', payload, nativeId);
      return nativeId;
    },
    deliver: (event: Json) => publish('events_api', eventOf(scene, event)),
  };
};

const controls = ({ world, refusals }: ServerContext) => ({
  withhold: (...scopes: readonly string[]) => void (world.scopes = world.scopes.filter((scope) => !scopes.includes(scope))),
  refuseChannel: (id: string, error: string) => void (enter(world, id, firstTeam.id).refusal = error),
  limitChannel(id: string, retryAfterMs: number | undefined) {
    const channel = enter(world, id, firstTeam.id);
    if (retryAfterMs === undefined) delete channel.retryAfterMs;
    else channel.retryAfterMs = retryAfterMs;
  },
  refuseMethod(method: string, refusal: Parameters<SlackSimulator['refuseMethod']>[1]) {
    if (refusal === undefined) refusals.delete(method);
    else refusals.set(method, new Refusal(refusal.error, refusal.more ?? {}, refusal.retryAfterMs));
  },
  whispered: (id: string) =>
    [...(world.channels.get(id)?.messages.values() ?? [])].flatMap((message) => (message.reader === undefined ? [] : [{ reader: message.reader, text: world.visible(id).find((shown) => shown.id === message.ts)?.text ?? '' }])),
  reactionsOn: (id: string, ts: string) => [...(world.channels.get(id)?.messages.get(ts)?.reactions.keys() ?? [])],
});

/** Starts Slack for one app on 127.0.0.1, for tests, benchmarks and the playground. */
export const startSlackSimulator = async ({ mode = 'socket' }: SlackSimulatorOptions = {}): Promise<SlackSimulator> => {
  const world = newWorld(systemClock, { appToken, signingSecret });
  world.teams.push(firstTeam);
  for (const place of places) enter(world, place.chatId, firstTeam.id, place.chatType === 'dm' ? place.senderId : undefined);
  world.people.set('U0PERSON01', 'Ada');
  const deliveries = new Deliveries();
  const sockets = new Sockets(deliveries);
  const calls = new Calls(deliveries, { secret: signingSecret, clock: systemClock });
  deliveries.carrier = mode === 'socket' ? sockets : calls;
  const context: ServerContext = { world, sockets, faults: newFaults(), log: [], violations: [], refusals: new Map() };
  const server = await startServer(context);
  const root = `http://127.0.0.1:${server.port}`;
  const scene: Scene = { world, team: firstTeam, root };
  const { say, publish, ...others } = happenings(scene, deliveries);
  const ways = mode === 'socket' ? { app_token: appToken } : { signing_secret: signingSecret };
  const options = { bot_token: firstTeam.token, mode, base_url: `${root}/api`, ...ways };
  const pinging = setInterval(() => sockets.ping(), pingEveryMs);
  return {
    ...others,
    ...controls(context),
    baseUrl: `${root}/api`,
    sockets,
    log: context.log,
    violations: () => context.violations,
    install: (team) => void world.teams.push(team),
    sayIn: (teamId, message) => say({ ...scene, team: world.teams.find(({ id }) => id === teamId) ?? firstTeam }, message),
    deafen: (deaf) => void (deliveries.deaf = deaf),
    goOffline: () => server.goOffline(),
    goOnline: () => server.goOnline(),
    options,
    badOptions: { ...options, bot_token: 'xoxb-wrong-bot-token-DDDDDDDDDDDD' },
    secrets: [firstTeam.token, ...Object.values(ways)],
    places,
    fixtures: recorded.payloads.map(({ name, payload }) => ({ name, payload })),
    async replay(payload) {
      publish(kindOf(payload as Json), payload as Json);
    },
    say: async (message) => say(scene, message),
    redeliver: async (nativeId) => deliveries.again(nativeId),
    async sendUnknownEvent() {
      others.deliver({ type: 'hologram', channel: 'C0GENERAL1', note: 'of a kind that does not exist yet' });
    },
    acknowledged: () => deliveries.acknowledged,
    visible: (chatId) => world.visible(chatId),
    typing: () => world.typing,
    async press(chatId, messageId, data, senderId) {
      const { nativeId, payload } = press(scene, { chatId, messageId, data, senderId });
      publish('interactive', payload, nativeId);
      return nativeId;
    },
    fail(plan) {
      const applied = plan.what === 'receive' && breakReceiving(sockets, plan);
      if (!applied) context.faults.plan(plan);
    },
    ...(mode === 'http' && {
      connect(url: string) {
        calls.url = url;
        deliveries.flush();
      },
      webhook(message: SimulatedMessage, signed: boolean) {
        const delivery = { kind: 'events_api' as const, payload: eventOf(scene, speak(scene, message).event), retry: 0 };
        const call = signedCall(delivery, signed ? signingSecret : 'another-secret', systemClock.now());
        return call;
      },
    }),
    async [Symbol.asyncDispose]() {
      clearInterval(pinging);
      calls.close();
      sockets.close();
      await server[Symbol.asyncDispose]();
    },
  };
};

import { systemClock } from '../../lib/clock.ts';
import type { PlatformSimulator, SimulatedMessage } from '../simulator.ts';
import recorded from './fixtures/recorded.json' with { type: 'json' };
import { newFaults } from '../simulator-faults.ts';
import type { SimulatorServer } from '../simulator-server.ts';
import { SimulatedGateway } from './simulator/gateway.ts';
import { command, press, reactTo, rewrite, speak } from './simulator/people.ts';
import type { Happening } from './simulator/people.ts';
import type { Printer } from './simulator/printing.ts';
import { startServer } from './simulator/server.ts';
import type { CallRecord, Limits, ServerContext } from './simulator/server.ts';
import { ids, newWorld, visibleIn } from './simulator/world.ts';
import type { Json } from './wire.ts';

export interface DiscordSimulatorOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number;
  readonly heartbeatMs?: number;
}

/** Discord over HTTP and its gateway, with what Discord alone has. */
export interface DiscordSimulator extends PlatformSimulator {
  /** Root of the API without its version. */
  readonly baseUrl: string;
  readonly token: string;
  readonly ids: typeof ids;
  readonly gateway: SimulatedGateway;
  /** Calls in the order they came. */
  readonly log: readonly CallRecord[];
  readonly limits: Limits;
  /** Calls that do not exist; a test wants none. */
  violations(): readonly string[];
  /** The most calls that were ever made at the same time. */
  mostAtOnce(): number;
  /** Somebody speaks although nobody may be listening. */
  sayMeanwhile(message: SimulatedMessage): string;
  edit(chatId: string, messageId: string, text: string): Promise<string>;
  /** Somebody changes a message although nobody may be listening. */
  editMeanwhile(chatId: string, messageId: string, text: string): string;
  react(reaction: Parameters<typeof reactTo>[1]): Promise<void>;
  command(where: Parameters<typeof command>[1]): Promise<string>;
  /** What an interaction was answered with first: its kind and its words. */
  answerTo(interactionId: string): { readonly kind: number | undefined; readonly text: string | undefined };
  giveRoles(userId: string, roles: readonly string[]): void;
  reactionsOn(chatId: string, messageId: string): readonly string[];
  commands(): readonly unknown[];
  /** A person gives a channel or thread another name. */
  rename(channelId: string, name: string): void;
  threads(): readonly { readonly id: string; readonly name: string; readonly parentId: string | undefined }[];
  goOffline(): Promise<void>;
  goOnline(): Promise<void>;
}

const fixtures = Object.entries(recorded.dispatches).map(([name, payload]) => ({ name, payload }));

const places: PlatformSimulator['places'] = [
  { chatId: ids.dm, chatType: 'dm', senderId: ids.person },
  { chatId: ids.text, chatType: 'group', senderId: ids.person },
  { chatId: ids.announcements, chatType: 'channel', senderId: ids.person },
  { chatId: ids.thread, chatType: 'thread', senderId: ids.person },
];

const token = 'MTAwMDAwMDAwMDAwMDAwMDAwMQ.Gsimul.ated-token-AAAAAAAAAAAAAAAAAAAAAAAAAAA';

const historyLimit = 10_000;

const discordControls = (context: ServerContext, server: SimulatorServer, hear: (happening: Happening) => string) => {
  const { world, gateway, printer } = context;
  const heard = async (make: () => Happening): Promise<string> => {
    await gateway.ready();
    return hear(make());
  };
  return {
    token: context.token,
    ids,
    gateway,
    log: context.log,
    limits: context.limits,
    violations: () => [...context.violations, ...gateway.violations],
    mostAtOnce: () => context.load.most,
    sayMeanwhile: (message: SimulatedMessage) => hear(speak(printer, message)),
    edit: (chatId: string, messageId: string, text: string) => heard(() => rewrite(printer, chatId, messageId, text)),
    editMeanwhile: (chatId: string, messageId: string, text: string) => hear(rewrite(printer, chatId, messageId, text)),
    react: async (reaction: Parameters<typeof reactTo>[1]) => void (await heard(() => reactTo(printer, reaction))),
    command: (where: Parameters<typeof command>[1]) => heard(() => command(printer, where)),
    answerTo(interactionId: string) {
      const found = [...world.interactions.values()].find(({ id }) => id === interactionId);
      return { kind: found?.answered, text: found?.text };
    },
    giveRoles: (userId: string, roles: readonly string[]) => void world.roles.set(userId, roles),
    reactionsOn: (chatId: string, messageId: string) => [...(world.channels.get(chatId)?.messages.get(messageId)?.reactions.keys() ?? [])],
    commands: () => world.commands,
    rename: (channelId: string, name: string) => void (world.channel(channelId).name = name),
    threads: () => [...world.channels.values()].filter(({ parentId }) => parentId !== undefined).map(({ id, name, parentId }) => ({ id, name, parentId })),
    goOffline: () => server.goOffline(),
    goOnline: () => server.goOnline(),
  };
};

/** What a fault in receiving does to a connection that is there. */
const disturb = ({ gateway }: ServerContext, fault: Parameters<PlatformSimulator['fail']>[0]['fault']): void => {
  switch (fault.type) {
    case 'status':
      return gateway.disconnect(fault.status);
    case 'garbage':
      return gateway.broadcast('not the protocol');
    case 'hang':
      gateway.silent = true;
      return undefined;
    case 'refuse':
    case 'drop_answer':
    case 'rate_limit':
      return gateway.disconnect();
    case 'delay':
      return undefined;
    default:
      return fault satisfies never;
  }
};

/** Starts Discord for one bot on 127.0.0.1, for tests, benchmarks and the playground. */
export const startDiscordSimulator = async ({ port = 0, heartbeatMs = 41_250 }: DiscordSimulatorOptions = {}): Promise<DiscordSimulator> => {
  const world = newWorld(systemClock);
  let origin = '';
  const printer: Printer = { world, filesUrl: () => origin };
  const gateway = new SimulatedGateway({ world, token, heartbeatMs, url: () => `${origin.replace('http', 'ws')}/gateway` });
  const context: ServerContext = { token, world, faults: newFaults(), gateway, printer, log: [], limits: { channels: new Map(), global: 0, exhausted: new Map() }, violations: [], load: { now: 0, most: 0 } };
  const server = await startServer(context, port);
  origin = `http://127.0.0.1:${server.port}`;
  const baseUrl = `${origin}/api`;
  const options = { token, base_url: baseUrl };
  const past = new Map<string, Happening>();
  const hear = (happening: Happening): string => {
    past.set(happening.nativeId, happening);
    if (past.size > historyLimit) past.delete(past.keys().next().value ?? '');
    gateway.dispatch(happening.name, happening.data, true);
    return happening.nativeId;
  };
  const heard = async (make: () => Happening): Promise<string> => {
    await gateway.ready();
    return hear(make());
  };
  return {
    ...discordControls(context, server, hear),
    baseUrl,
    options,
    badOptions: { ...options, token: 'MTAwMDAwMDAwMDAwMDAwMDAwMQ.Gwrong.token-BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB' },
    secrets: [token],
    fixtures,
    places,
    async replay(payload) {
      await gateway.ready();
      const { t, d } = payload as { readonly t: string; readonly d: Json };
      gateway.dispatch(t, d);
    },
    say: (message) => heard(() => speak(printer, message)),
    async redeliver(nativeId) {
      await gateway.ready();
      const again = past.get(nativeId);
      if (again === undefined) throw new Error(`nothing with the id ${nativeId} has happened`);
      gateway.dispatch(again.name, again.data);
    },
    async sendUnknownEvent() {
      await gateway.ready();
      gateway.dispatch('HOLOGRAM_CREATE', { id: '1', note: 'of a kind that does not exist yet' });
    },
    acknowledged: () => gateway.acknowledged,
    visible: (chatId) => visibleIn(world, chatId),
    threadName: ({ chatId }) => world.channels.get(chatId)?.name,
    typing: () => world.typing,
    press: (chatId, messageId, data, senderId) => heard(() => press(printer, { chatId, messageId, data, senderId })),
    fail(plan) {
      if (plan.what === 'receive') gateway.toWhoeverConnects(() => disturb(context, plan.fault));
      else context.faults.plan(plan);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
};

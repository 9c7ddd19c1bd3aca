import assert from 'node:assert/strict';
import { afterEach, beforeEach } from 'node:test';
import { openAccountData } from '../../../test/support/account-data.ts';
import { message, openTestAccount } from '../../../test/support/test-account.ts';
import type { TestAccount } from '../../../test/support/test-account.ts';
import { testInbox } from '../../../test/support/test-inbox.ts';
import type { TestInbox } from '../../../test/support/test-inbox.ts';
import { until } from '../../../test/support/until.ts';
import { PlatformError } from '../../core/errors.ts';
import type { PlatformErrorCode } from '../../core/errors.ts';
import type { InboundEvent, Target } from '../../core/message.ts';
import { never, runAdapter } from '../conformance-bench.ts';
import type { Running as RunningAdapter } from '../conformance-bench.ts';
import type { AccountData, Adapter } from '../contract.ts';
import type { SimulatedMessage } from '../simulator.ts';
import { discord } from './index.ts';
import { startDiscordSimulator } from './simulator.ts';
import type { DiscordSimulator, DiscordSimulatorOptions } from './simulator.ts';

type Options = Readonly<Record<string, unknown>>;

/** The real adapter, connected to the simulator. */
export const openAccount = (simulator: DiscordSimulator, overrides: Options = {}, data?: AccountData): Promise<TestAccount> => openTestAccount(discord, { ...simulator.options, ...overrides }, data);

export type Running = RunningAdapter<TestInbox>;

/** Runs the account until `stop`. */
export const runAccount = (adapter: Adapter, inbox = testInbox()): Promise<Running> => runAdapter(adapter, inbox);

export const toChat = (chatId: string, more: Partial<Target> = {}): Target => ({ account: 'discord', chatId, chatType: 'group', ...more });

export const textsOf = (inbox: TestInbox): readonly string[] => inbox.events.map(({ text }) => text);

export const heard = (inbox: TestInbox, ...wanted: readonly string[]): Promise<void> => until(() => wanted.every((text) => textsOf(inbox).includes(text)), `${wanted.join(', ')} to arrive`);

/** The connection ended with such an error. */
export const failedWith = async ({ ended }: Running, code: PlatformErrorCode, words: RegExp): Promise<void> => {
  const error = await ended;
  assert.ok(error instanceof PlatformError, String(error));
  assert.deepEqual([error.code, words.test(error.message)], [code, true], error.message);
};

export interface Connections {
  readonly simulator: DiscordSimulator;
  /** What the account has kept outlives its connections. */
  readonly data: AccountData;
  /** Another simulator in the place of the present one. */
  start(options?: DiscordSimulatorOptions): Promise<void>;
  /** A connection of a process that has just started: nothing is left but what was stored. */
  run(inbox?: TestInbox, options?: Options): Promise<Running>;
  inDm(text: string): SimulatedMessage;
  inChannel(text: string): SimulatedMessage;
  inThread(text: string): SimulatedMessage;
  /** What the account has sent over its connections. */
  frames(op: number): readonly Readonly<Record<string, unknown>>[];
}

/** For every test that follows in the calling file, a new Discord, which an account connects to as the test wants; it must not have broken any rule. */
export const discordConnections = (): Connections => {
  let simulator: DiscordSimulator;
  let data: AccountData;
  const runs: Running[] = [];
  beforeEach(async () => {
    data = openAccountData(':memory:');
    simulator = await startDiscordSimulator();
  });
  afterEach(async () => {
    for (const each of runs.splice(0)) await each.stop();
    assert.deepEqual(simulator.violations(), []);
    await simulator[Symbol.asyncDispose]();
  });
  return {
    get simulator() {
      return simulator;
    },
    get data() {
      return data;
    },
    async start(options) {
      await simulator[Symbol.asyncDispose]();
      simulator = await startDiscordSimulator(options);
    },
    async run(inbox, options) {
      const running = await runAccount((await openAccount(simulator, options, data)).adapter, inbox);
      runs.push(running);
      return running;
    },
    inDm: (text) => ({ chatId: simulator.ids.dm, chatType: 'dm', senderId: simulator.ids.person, text }),
    inChannel: (text) => ({ chatId: simulator.ids.text, chatType: 'group', senderId: simulator.ids.person, text, mention: true }),
    inThread: (text) => ({ chatId: simulator.ids.thread, chatType: 'thread', senderId: simulator.ids.person, text }),
    frames: (op) => simulator.gateway.frames.filter((frame) => frame['op'] === op),
  };
};

export interface People {
  readonly simulator: DiscordSimulator;
  readonly account: TestAccount;
  readonly inbox: TestInbox;
  /** Connects anew, with these options and an empty inbox. */
  connect(options?: Options): Promise<void>;
  arrived(wanted: (event: InboundEvent) => boolean): Promise<InboundEvent>;
  /** Somebody speaks, in the channel unless told otherwise; answers what arrived. */
  say(text: string, more?: Partial<SimulatedMessage>): Promise<InboundEvent>;
  inThread(): Partial<SimulatedMessage>;
  /** Sends something to the channel and answers its id. */
  sent(): Promise<string>;
}

/** For every test that follows in the calling file, people on a new Discord, and an account that hears them; neither may break any rule. */
export const discordPeople = (): People => {
  let simulator: DiscordSimulator;
  let account: TestAccount;
  let running: Running | undefined;
  const inbox = (): TestInbox => running?.inbox ?? assert.fail('not connected');
  const connect: People['connect'] = async (options) => {
    await running?.stop();
    account = await openAccount(simulator, options, account.data);
    running = await runAccount(account.adapter);
  };
  const arrived: People['arrived'] = async (wanted) => {
    await until(() => inbox().events.some(wanted), 'the event to arrive');
    return inbox().events.find(wanted) ?? assert.fail();
  };
  beforeEach(async () => {
    simulator = await startDiscordSimulator();
    account = await openAccount(simulator);
    await connect();
  });
  afterEach(async () => {
    await running?.stop();
    running = undefined;
    assert.deepEqual(simulator.violations(), []);
    await simulator[Symbol.asyncDispose]();
  });
  return {
    get simulator() {
      return simulator;
    },
    get account() {
      return account;
    },
    get inbox() {
      return inbox();
    },
    connect,
    arrived,
    async say(text, more) {
      const id = await simulator.say({ chatId: simulator.ids.text, chatType: 'group', senderId: simulator.ids.person, text, ...more });
      return arrived(({ nativeId }) => nativeId === id);
    },
    inThread: () => ({ chatId: simulator.ids.thread, chatType: 'thread' }),
    sent: async () => (await account.adapter.send(message(toChat(simulator.ids.text), 'ours'), never)).messageIds[0] ?? assert.fail(),
  };
};

import { tmpdir } from 'node:os';
import type { InboundEvent, OutboundMessage, Target } from '../../src/core/message.ts';
import { capturingLogger } from '../../src/lib/logger.ts';
import type { AccountData, Adapter, Inbox } from '../../src/platforms/contract.ts';
import { discord } from '../../src/platforms/discord/index.ts';
import { discordOptions } from '../../src/platforms/discord/options.ts';
import type { DiscordSimulator } from '../../src/platforms/discord/simulator.ts';
import { openAccountData } from './account-data.ts';

export interface TestInbox extends Inbox {
  /** Accepted events, in the order they became durable. */
  readonly events: InboundEvent[];
  /** Every event that was handed over, also repeats. */
  readonly offered: InboundEvent[];
  readonly cursors: Map<string, string>;
  /** Runs before an event is stored; rejecting means that it could not be. */
  before: (event: InboundEvent) => Promise<void>;
  /** What becomes of an event that is new. */
  verdict: 'stored' | 'skipped';
  aliveCount(): number;
}

/** An inbox that outlives connections, as the gateway's does. */
export const testInbox = (): TestInbox => {
  const seen = new Set<string>();
  const cursors = new Map<string, string>();
  let alive = 0;
  const inbox: TestInbox = {
    events: [],
    offered: [],
    cursors,
    before: async () => undefined,
    verdict: 'stored',
    async accept(event) {
      inbox.offered.push(event);
      await inbox.before(event);
      const key = JSON.stringify([event.chat.id, event.kind, event.nativeId]);
      if (seen.has(key)) return 'duplicate';
      seen.add(key);
      inbox.events.push(event);
      return inbox.verdict;
    },
    returned: async () => false,
    alive: () => void (alive += 1),
    aliveCount: () => alive,
    cursor: { read: async (name) => cursors.get(name), write: async (name, value) => void cursors.set(name, value) },
  };
  return inbox;
};

export interface TestAccount {
  readonly adapter: Adapter;
  readonly data: AccountData;
  readonly lines: readonly string[];
}

/** The real adapter, connected to the simulator. */
export const openAccount = async (simulator: DiscordSimulator, overrides: Readonly<Record<string, unknown>> = {}, data: AccountData = openAccountData(':memory:')): Promise<TestAccount> => {
  const { log, lines } = capturingLogger();
  const options = discordOptions.parse({ ...simulator.options, ...overrides });
  return { adapter: await discord.open({ account: 'discord', options, log, data, home: tmpdir(), mediaFolder: tmpdir() }), data, lines };
};

export interface Running {
  readonly inbox: TestInbox;
  /** The error that `run` ended with; undefined when it was told to end. Never rejects. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

/** Runs the account until `stop`. */
export const runAccount = async (adapter: Adapter, inbox = testInbox()): Promise<Running> => {
  const controller = new AbortController();
  const identity = await adapter.identify(controller.signal);
  const ended = adapter.run(inbox, identity, controller.signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  return {
    inbox,
    ended,
    async stop() {
      controller.abort();
      await ended;
    },
  };
};

export const never = new AbortController().signal;

export const toChat = (chatId: string, more: Partial<Target> = {}): Target => ({ account: 'discord', chatId, chatType: 'group', ...more });

export const message = (target: Target, text: string, more: Partial<OutboundMessage> = {}): OutboundMessage => ({ key: `key:${text.slice(0, 20)}`, target, text, ...more });

/** Waits until something is true. */
export const eventually = async (holds: () => boolean, what = 'the condition', patienceMs = 30_000): Promise<void> => {
  const end = performance.now() + patienceMs;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`${what} did not come true`);
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
};

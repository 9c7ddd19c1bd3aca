import { tmpdir } from 'node:os';
import type { InboundEvent, OutboundMessage, Target } from '../../src/core/message.ts';
import { capturingLogger } from '../../src/lib/logger.ts';
import type { AccountData, Adapter, Inbox } from '../../src/platforms/contract.ts';
import { telegram } from '../../src/platforms/telegram/index.ts';
import { telegramOptions } from '../../src/platforms/telegram/options.ts';
import type { TelegramSimulator } from '../../src/platforms/telegram/simulator.ts';
import { openAccountData } from './account-data.ts';

export interface TestInbox extends Inbox {
  /** Accepted events, in the order they became durable. */
  readonly events: InboundEvent[];
  readonly cursors: Map<string, string>;
  /** Runs before an event is stored; rejecting means that it could not be. */
  before: (event: InboundEvent) => Promise<void>;
  /** Resolves when so many events are stored. */
  reached(count: number): Promise<void>;
  aliveCount(): number;
}

export const testInbox = (): TestInbox => {
  const events: InboundEvent[] = [];
  const seen = new Set<string>();
  const cursors = new Map<string, string>();
  const waiting: { count: number; resolve: () => void }[] = [];
  let alive = 0;
  const inbox: TestInbox = {
    events,
    cursors,
    before: async () => undefined,
    async accept(event) {
      await inbox.before(event);
      const key = JSON.stringify([event.chat.id, event.kind, event.nativeId]);
      if (seen.has(key)) return 'duplicate';
      seen.add(key);
      events.push(event);
      for (const waiter of waiting.filter(({ count }) => events.length >= count)) waiter.resolve();
      return 'stored';
    },
    returned: async () => false,
    alive: () => void (alive += 1),
    aliveCount: () => alive,
    cursor: { read: async (name) => cursors.get(name), write: async (name, value) => void cursors.set(name, value) },
    reached: (count) =>
      events.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve })),
  };
  return inbox;
};

export interface TestAccount {
  readonly adapter: Adapter;
  readonly data: AccountData;
  readonly lines: readonly string[];
}

/** The real adapter, connected to the simulator. */
export const openAccount = async (simulator: TelegramSimulator, overrides: Readonly<Record<string, unknown>> = {}): Promise<TestAccount> => {
  const { log, lines } = capturingLogger();
  const data = openAccountData(':memory:');
  const options = telegramOptions.parse({ ...simulator.options, ...overrides });
  return { adapter: await telegram.open({ account: 'telegram', options, log, data, home: tmpdir(), mediaFolder: tmpdir() }), data, lines };
};

export interface Running {
  readonly inbox: TestInbox;
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** Runs the account until `stop`; `ended` settles as `run` does. */
export const runAccount = async (adapter: Adapter, inbox = testInbox()): Promise<Running> => {
  const controller = new AbortController();
  const identity = await adapter.identify(controller.signal);
  const ended = adapter.run(inbox, identity, controller.signal);
  ended.catch(() => undefined);
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

export const toChat = (chatId: string, more: Partial<Target> = {}): Target => ({ account: 'telegram', chatId, chatType: chatId.startsWith('-') ? 'group' : 'dm', ...more });

export const message = (target: Target, text: string, more: Partial<OutboundMessage> = {}): OutboundMessage => ({ key: `key:${text.slice(0, 20)}`, target, text, ...more });

/** Waits until something is true, at most two seconds. */
export const eventually = async (holds: () => boolean, what = 'the condition'): Promise<void> => {
  const end = performance.now() + 30_000;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`${what} did not come true`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
};

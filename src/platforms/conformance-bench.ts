import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { PlatformError } from '../core/errors.ts';
import type { PlatformErrorCode } from '../core/errors.ts';
import type { ChatType, InboundEvent, OutboundMessage, Target } from '../core/message.ts';
import { systemClock } from '../lib/clock.ts';
import { capturingLogger } from '../lib/logger.ts';
import type { AccountData, Adapter, ChatMove, Inbox, Platform } from './contract.ts';
import type { PlatformSimulator, SimulatedMessage, SimulatedPlace, VisibleMessage } from './simulator.ts';

/** One thing that every platform promises. It fails by throwing. */
export type Clause = (bench: Bench) => Promise<void>;

/** The platform does not have what a clause is about. */
export class NotOffered extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'NotOffered';
  }
}

export interface BenchInbox extends Inbox {
  /** In the order they became durable, without repeats. */
  readonly events: readonly InboundEvent[];
  /** Every event that was handed over, also repeats and those that could not be stored. */
  readonly offered: readonly InboundEvent[];
  /** Messages of ours that came back. */
  readonly returnedMessages: readonly { readonly messageId: string; readonly reason: string }[];
  /** Chats that go on elsewhere. */
  readonly moves: readonly ChatMove[];
  /** How often the adapter has said that it receives. */
  signsOfLife(): number;
  /** Runs before an event is stored; rejecting means that it could not be. */
  before(event: InboundEvent): Promise<void>;
}

export interface Running<I extends Inbox = BenchInbox> extends AsyncDisposable {
  readonly inbox: I;
  /** The error `run` ended with; undefined when it ended because it was told to. Never rejects. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

/** A platform's adapter at work, connected to the platform's simulator. */
export interface Bench extends AsyncDisposable {
  readonly platform: Platform;
  readonly simulator: PlatformSimulator;
  readonly adapter: Adapter;
  /** The receiving that began with the bench. */
  readonly running: Running;
  /** What was logged, as it was before any secret is taken out. */
  readonly lines: readonly string[];
  readonly folder: string;
  /** A chat of the type. */
  place(type: ChatType): SimulatedPlace;
  say(message: Partial<SimulatedMessage> & Pick<SimulatedMessage, 'text'>): Promise<string>;
  message(text: string, more?: Partial<OutboundMessage>): OutboundMessage;
  visible(): readonly VisibleMessage[];
  /** A further adapter of the account, as after a restart. */
  reopen(options?: PlatformSimulator['options']): Promise<Adapter>;
  run(inbox?: BenchInbox): Promise<Running>;
  /** The platform is gone from the network. */
  cutOff(): Promise<void>;
}

/** For calls that nobody stops. */
export const never: AbortSignal = new AbortController().signal;

export const newInbox = (): BenchInbox => {
  const events: InboundEvent[] = [];
  const offered: InboundEvent[] = [];
  const cursors = new Map<string, string>();
  const returned: { messageId: string; reason: string }[] = [];
  const moves: ChatMove[] = [];
  const seen = new Set<string>();
  let signs = 0;
  return {
    events,
    offered,
    returnedMessages: returned,
    moves,
    before: async () => undefined,
    async accept(event) {
      offered.push(event);
      await this.before(event);
      const key = JSON.stringify([event.account, event.chat.id, event.kind, event.nativeId]);
      if (seen.has(key)) return 'duplicate';
      seen.add(key);
      events.push(event);
      return 'stored';
    },
    returned: async (messageId, reason) => returned.push({ messageId, reason }) > 0,
    moved: async (move) => void moves.push(move),
    signsOfLife: () => signs,
    alive: () => void (signs += 1),
    cursor: { read: async (name) => cursors.get(name), write: async (name, value) => void cursors.set(name, value) },
  };
};

/** Lets an adapter receive until it is stopped. */
export const runAdapter = async <I extends Inbox>(adapter: Adapter, inbox: I): Promise<Running<I>> => {
  const stopping = new AbortController();
  const identity = await adapter.identify(stopping.signal);
  const ended = adapter.run(inbox, identity, stopping.signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  const stop = async (): Promise<void> => {
    stopping.abort();
    await ended;
  };
  return { inbox, ended, stop, [Symbol.asyncDispose]: stop };
};

/** The adapter's routes where the platform can reach them, as `http/` mounts them. */
export const serveRoutes = async (routes: Hono): Promise<{ readonly url: string } & AsyncDisposable> => {
  const server = createServer(getRequestListener(routes.fetch, { overrideGlobalObjects: false }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

export interface BenchParts {
  readonly data: AccountData;
  /** An empty folder that is removed afterwards. */
  readonly folder: string;
  readonly variant?: string | undefined;
}

/** Starts the simulator, opens the adapter on it and lets it receive. */
export const openBench = async (platform: Platform, { data, folder, variant }: BenchParts): Promise<Bench> => {
  const simulator = await platform.simulate(variant);
  const { log, lines } = capturingLogger();
  const account = platform.name;
  const reopen: Bench['reopen'] = (options = simulator.options) => platform.open({ account, options: platform.options.parse(options), log, data, home: folder, mediaFolder: folder });
  const adapter = await reopen();
  const server = adapter.webhook === undefined ? undefined : await serveRoutes(adapter.webhook.routes);
  if (server !== undefined) simulator.connect?.(server.url);
  const running = await runAdapter(adapter, newInbox());
  const runs = [running];
  const place: Bench['place'] = (type) => simulator.places.find(({ chatType }) => chatType === type) ?? notOffered(`it has no ${type}`);
  let keys = 0;
  let isReachable = true;
  const cutOff = async (): Promise<void> => {
    if (isReachable) await simulator[Symbol.asyncDispose]();
    isReachable = false;
  };
  return {
    platform,
    simulator,
    adapter,
    running,
    lines,
    folder,
    place,
    reopen,
    say: (message) => simulator.say({ ...place('dm'), ...message }),
    message: (text, more = {}) => ({ key: `message:${(keys += 1)}`, target: targetOf(account, place('dm')), text, ...more }),
    visible: () => simulator.visible(place('dm').chatId),
    async run(inbox = newInbox()) {
      const further = await runAdapter(adapter, inbox);
      runs.push(further);
      return further;
    },
    cutOff,
    async [Symbol.asyncDispose]() {
      for (const each of runs) await each.stop();
      await cutOff();
      await server?.[Symbol.asyncDispose]();
    },
  };
};

export const notOffered = (what: string): never => {
  throw new NotOffered(what);
};

export const targetOf = (account: string, { chatId, chatType }: SimulatedPlace): Target => ({ account, chatId, chatType });

/** For as long as a slow machine may need. */
const patienceMs = 60_000;

/** Much longer than it takes anywhere, much shorter than any platform keeps somebody waiting by itself. */
export const soonMs = 15_000;

/** Waits until there is something. */
export const eventually = async <T>(get: () => T | undefined | false, what: string): Promise<T> => {
  const untilMs = performance.now() + patienceMs;
  for (;;) {
    const value = get();
    if (value !== undefined && value !== false) return value;
    assert.ok(performance.now() < untilMs, `it never came true that ${what}`);
    await systemClock.sleep(3);
  }
};

/** Long enough for something wrong to happen that must not happen. */
export const aMoment = (): Promise<void> => systemClock.sleep(60);

export const eventWith = (inbox: BenchInbox, text: string): Promise<InboundEvent> => eventually(() => inbox.events.find((event) => event.text === text), `a message "${text}" arrived`);

/** Fails when the work takes longer. */
export const within = async <T>(ms: number, work: Promise<T>, what: string): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new assert.AssertionError({ message: `${what} took more than ${ms} ms` })), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
};

/** The `PlatformError` that the work failed with, which must have one of the codes. */
export const failure = async (work: Promise<unknown>, ...codes: readonly PlatformErrorCode[]): Promise<PlatformError> => {
  const error: unknown = await work.then(
    () => assert.fail(`it succeeded instead of failing with ${codes.join(' or ')}`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof PlatformError, `not a PlatformError: ${String(error)}`);
  assert.ok(codes.includes(error.code), `${error.code} instead of ${codes.join(' or ')}: ${error.message}`);
  return error;
};

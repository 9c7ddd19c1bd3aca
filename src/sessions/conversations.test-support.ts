import { sampleEvent } from '../../test/support/samples.ts';
import type { Agent, TurnAbort, TurnInput } from '../agent/contract.ts';
import { StoreError } from '../core/errors.ts';
import type { StoreErrorCode } from '../core/errors.ts';
import { replyTarget } from '../core/message.ts';
import type { InboundEvent } from '../core/message.ts';
import type { TurnEvent } from '../core/turn.ts';
import { systemClock } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import { capturingLogger } from '../lib/logger.ts';
import type { Platform } from '../platforms/contract.ts';
import { telegram } from '../platforms/telegram/index.ts';
import { insertInboxItem } from '../store/messages/inbox.ts';
import { enqueueLane, laneStates, turnLane } from '../store/lanes/lanes.ts';
import { createSession } from '../store/sessions/sessions.ts';
import type { Store, WriteOptions, Writing } from '../store/store.ts';
import type { TurnPolicy } from './turn-policy.ts';
import type { BusyMode } from './busy-mode.ts';
import { compressionSection } from './compression/options.ts';
import { Conversations } from './lanes.ts';
import type { ConversationOptions } from './lanes.ts';
import type { Answering } from './turn-parts.ts';

export const lane = turnLane('s1');

export const openSession = (store: Store): Promise<unknown> => store.write((tx) => createSession(tx, { id: 's1', agent: 'main', account: 'telegram', chatType: 'dm' }));

/** Something is said in the conversation, and nobody is notified of more than that it has work. */
export const say = (store: Store, text: string, more: Partial<InboundEvent> = {}): Promise<unknown> =>
  store.write(async (tx) => {
    await enqueueLane(tx, { lane, kind: 'turn' });
    return insertInboxItem(tx, { event: sampleEvent({ text, ...more }), class: 'chat', decisions: [], place: { lane, sessionId: 's1', sessionKey: 'k' } });
  });

export const policyOf = (busyMode: BusyMode): TurnPolicy => ({
  maxAttempts: 3,
  continueWithinMs: () => 3_600_000,
  busyMode: () => busyMode,
  isShared: () => false,
  replyTo: replyTarget,
  anchorAll: () => false,
  platform: () => telegram as Platform,
});

/** Real time, with every wait cut short, which can also be moved on. `looks` counts what was waited for. */
export interface QuickClock extends Clock {
  move(ms: number): void;
  readonly looks: number;
}

export const quickClock = (): QuickClock => {
  let movedMs = 0;
  let looks = 0;
  return {
    now: () => systemClock.now() + movedMs,
    move: (ms) => void (movedMs += ms),
    async sleep(ms, signal) {
      await systemClock.sleep(ms / 100, signal);
      looks += 1;
    },
    get looks() {
      return looks;
    },
  };
};

export type Run = (input: TurnInput, signal: AbortSignal) => AsyncGenerator<TurnEvent, void, undefined>;

/** What a turn of the agent is ended with, when it was. */
export const endOf = (signal: AbortSignal): TurnEvent => ({ type: 'end', reason: signal.aborted ? (signal.reason as TurnAbort).kind : 'completed' });

export const saidBy = (role: 'assistant' | 'user', content: string): TurnEvent => ({ type: 'message', message: { role, content } });

const answeringBy = (agent: Agent): Answering => ({
  agent,
  system: '',
  reader: { model: 'm', contextTokens: 100_000, outputTokens: 1000, systemBytes: 0, toolBytes: 0 },
  compression: { options: compressionSection.schema.parse({ enabled: false }), keepResultsOf: [], complete: () => Promise.reject(new Error('nothing is summarised here')), redact: (text) => text },
  limits: { activityMs: 60_000, totalMs: 60_000 },
  folder: () => ({ folder: '', userFolder: '' }),
  asyncDelivery: true,
  place: { agent: 'main', platform: 'telegram', target: { account: 'telegram', chatId: 'chat-1', chatType: 'dm' } },
  attended: true,
  recall: async () => undefined,
  keepSaid: async () => undefined,
  onKept: () => undefined,
});

export interface Conversing extends AsyncDisposable {
  readonly conversations: Conversations;
  readonly lines: readonly string[];
  /** Answers what was put down for it. */
  stop(): Promise<readonly unknown[]>;
}

/** Conversations that have not started yet; they end with the test. */
export const newConversations = (store: Store, more: Partial<ConversationOptions>): Conversing => {
  const { log, lines } = capturingLogger();
  const conversations = new Conversations({
    owner: 'a',
    concurrency: 2,
    store,
    clock: systemClock,
    log,
    policy: policyOf('queue'),
    attachments: { folder: '', maxBytes: 0, clock: systemClock, log, adapter: () => undefined },
    answering: () => Promise.reject(new Error('nobody is there')),
    preview: () => undefined,
    typing: () => ({ [Symbol.dispose]: () => undefined }),
    prepare: async (_begun, { text }) => ({ text }),
    progress: () => undefined,
    display: () => undefined,
    ...more,
  });
  let stopped: Promise<readonly unknown[]> | undefined;
  const stop = (): Promise<readonly unknown[]> => (stopped ??= conversations.stop(0));
  return { conversations, lines, stop, [Symbol.asyncDispose]: async () => void (await stop()) };
};

/** Conversations at work, answered by `run`. */
export const converse = (store: Store, run: Run, more: Partial<ConversationOptions> = {}): Conversing => {
  const conversing = newConversations(store, { clock: quickClock(), answering: async () => answeringBy({ run }), ...more });
  conversing.conversations.start();
  return conversing;
};

/** A store that fails as it is told to, and works otherwise. */
export interface TroubledStore extends Store {
  /** Whether the next reads and writes fail: before anything is done, or after it was done, as when only the confirmation is lost. */
  trouble: { reads: number; writes: number; confirmations: number; readonly code: StoreErrorCode };
}

export const troubledStore = (store: Store): TroubledStore => {
  const trouble: TroubledStore['trouble'] = { reads: 0, writes: 0, confirmations: 0, code: 'unavailable' };
  const meet = (kind: 'reads' | 'writes' | 'confirmations'): void => {
    if (trouble[kind] === 0) return;
    trouble[kind] -= 1;
    throw new StoreError(trouble.code, `as the test wants it: ${kind}`);
  };
  return {
    trouble,
    engine: store.engine,
    async read(work) {
      meet('reads');
      return store.read(work);
    },
    async write<T>(work: (tx: Writing) => Promise<T>, options?: WriteOptions) {
      meet('writes');
      const result = await store.write(work, options);
      meet('confirmations');
      return result;
    },
    listen: (channel, listener, when) => store.listen(channel, listener, when),
    tidy: () => store.tidy(),
    emptyLog: (patienceMs) => store.emptyLog(patienceMs),
    close: () => store.close(),
  };
};

export const transcript = async (store: Store): Promise<readonly string[]> => (await store.read((db) => db.q.selectFrom('messages').select(['role', 'content']).orderBy('id').execute())).map((row) => `${row.role}: ${row.content}`);

export const turns = (store: Store): Promise<readonly { readonly state: string; readonly exit_reason: string | null; readonly attempts: number }[]> =>
  store.read((db) => db.q.selectFrom('turns').select(['state', 'exit_reason', 'attempts']).orderBy('id').execute());

export const sent = async (store: Store): Promise<readonly string[]> =>
  (await store.read((db) => db.q.selectFrom('outbox').select('payload').orderBy('id').execute())).map(({ payload }) => (JSON.parse(payload) as { message: { text: string } }).message.text);

/** Nobody works on the conversation. */
export const isFree = async (store: Store): Promise<boolean> => (await store.read((db) => laneStates(db, [lane]))).get(lane)?.owner === null;

import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { openAccountData } from '../../../test/support/account-data.ts';
import type { InboundEvent, OutboundMessage, Target } from '../../core/message.ts';
import { systemClock } from '../../lib/clock.ts';
import { capturingLogger } from '../../lib/logger.ts';
import { newInbox } from '../conformance-bench.ts';
import type { BenchInbox } from '../conformance-bench.ts';
import type { AccountData, Adapter } from '../contract.ts';
import { matrix } from './index.ts';
import { matrixOptions } from './options.ts';
import type { MatrixSimulator } from './simulator.ts';

export interface TestAccount extends Disposable {
  readonly adapter: Adapter;
  readonly data: AccountData;
  readonly lines: readonly string[];
}

/** The real adapter on the simulator; with the data of an earlier one it is that after a restart. */
export const openAccount = async (simulator: Pick<MatrixSimulator, 'options'>, more: { readonly options?: Readonly<Record<string, unknown>>; readonly data?: AccountData } = {}): Promise<TestAccount> => {
  const { log, lines } = capturingLogger();
  const own = more.data === undefined ? openAccountData(':memory:') : undefined;
  const data = more.data ?? own ?? assert.fail();
  const options = matrixOptions.parse({ ...simulator.options, ...more.options });
  const adapter = await matrix.open({ account: 'matrix', options, log, data, home: tmpdir(), mediaFolder: tmpdir() });
  return { adapter, data, lines, [Symbol.dispose]: () => own?.[Symbol.dispose]() };
};

export interface Running {
  readonly inbox: BenchInbox;
  /** What `run` ended with; undefined when it was told to. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

export const runAccount = async (adapter: Adapter, inbox: BenchInbox = newInbox()): Promise<Running> => {
  const stopping = new AbortController();
  const identity = await adapter.identify(stopping.signal);
  const ended = adapter.run(inbox, identity, stopping.signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  return {
    inbox,
    ended,
    async stop() {
      stopping.abort();
      await ended;
    },
  };
};

export const direct: Target = { account: 'matrix', chatId: '!direct:sim.test', chatType: 'dm' };
export const group: Target = { account: 'matrix', chatId: '!group:sim.test', chatType: 'group' };
export const alice = '@alice:sim.test';

export const message = (text: string, more: Partial<OutboundMessage> = {}): OutboundMessage => ({ key: `key:${text.slice(0, 40)}`, target: direct, text, ...more });

/** An account loads the cryptography and makes its keys before it follows anything, which takes long on a busy machine. */
const startPatienceMs = 60_000;

/** Resolves once the account follows the stream from a position of its own. */
export const following = async ({ log }: Pick<MatrixSimulator, 'log'>): Promise<void> => {
  const untilMs = performance.now() + startPatienceMs;
  while (!log.some(({ path, query }) => path.endsWith('/sync') && query['since'] !== undefined)) {
    assert.ok(performance.now() < untilMs, 'the account never followed the stream');
    await systemClock.sleep(3);
  }
};

export const textsOf = (inbox: { readonly events: readonly InboundEvent[] }): readonly string[] => inbox.events.map(({ text }) => text);

import assert from 'node:assert/strict';
import { openAccountData } from '../../../test/support/account-data.ts';
import { openTestAccount } from '../../../test/support/test-account.ts';
import type { TestAccount } from '../../../test/support/test-account.ts';
import type { InboundEvent, OutboundMessage, Target } from '../../core/message.ts';
import { systemClock } from '../../lib/clock.ts';
import { newInbox, runAdapter } from '../conformance-bench.ts';
import type { Running } from '../conformance-bench.ts';
import type { AccountData, Adapter } from '../contract.ts';
import { matrix } from './index.ts';
import type { MatrixSimulator } from './simulator.ts';

export type MatrixAccount = TestAccount & Disposable;

/** The real adapter on the simulator; with the data of an earlier one it is that after a restart. */
export const openAccount = async (simulator: Pick<MatrixSimulator, 'options'>, more: { readonly options?: Readonly<Record<string, unknown>>; readonly data?: AccountData } = {}): Promise<MatrixAccount> => {
  const own = more.data === undefined ? openAccountData(':memory:') : undefined;
  const account = await openTestAccount(matrix, { ...simulator.options, ...more.options }, more.data ?? own);
  return { ...account, [Symbol.dispose]: () => own?.[Symbol.dispose]() };
};

/** Receives until it is stopped. */
export const runAccount = (adapter: Adapter, inbox = newInbox()): Promise<Running> => runAdapter(adapter, inbox);

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

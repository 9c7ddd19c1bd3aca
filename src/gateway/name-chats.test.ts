import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { openAccount } from '../../test/support/telegram-account.ts';
import { until } from '../../test/support/until.ts';
import { PlatformError } from '../core/errors.ts';
import type { Target } from '../core/message.ts';
import { DeliveryGate } from '../delivery/gate.ts';
import { manualClock } from '../lib/clock.ts';
import type { ManualClock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import { never } from '../platforms/conformance-bench.ts';
import type { Adapter } from '../platforms/contract.ts';
import { startTelegramSimulator } from '../platforms/telegram/simulator.ts';
import type { TelegramSimulator } from '../platforms/telegram/simulator.ts';
import { SqliteStore } from '../store/engines/sqlite.ts';
import { bindSession, createSession, setTitle } from '../store/sessions/sessions.ts';
import { nameChats } from './name-chats.ts';
import type { NamingDeps } from './name-chats.ts';

let simulator: TelegramSimulator;
let adapter: Adapter;
let folder: string;
let store: SqliteStore;
let clock: ManualClock;
let topic: Target;
let deps: NamingDeps & { readonly gate: DeliveryGate };

beforeEach(async () => {
  simulator = await startTelegramSimulator();
  adapter = (await openAccount(simulator)).adapter;
  folder = await mkdtemp(join(tmpdir(), 'hermes-naming-'));
  clock = manualClock();
  store = new SqliteStore({ path: join(folder, 'gateway.db'), clock, checkIntegrity: false });
  topic = (await adapter.threads?.open({ account: 'telegram', chatId: '7', chatType: 'dm' }, 'Conversation', never)) ?? assert.fail('no topic');
  await store.write(async (tx) => {
    await createSession(tx, { id: 's1', agent: 'main', account: 'telegram', chatType: 'dm' });
    await bindSession(tx, { sessionKey: 'agent:main:telegram:dm:7', sessionId: 's1', target: topic });
  });
  const gate = await DeliveryGate.open({ store, clock, log: silentLogger });
  deps = { store, clock, log: silentLogger, accounts: { adapter: () => adapter }, gate, signal: never };
});
afterEach(async () => {
  await store.close();
  await simulator[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const call = (title: string) => store.write((tx) => setTitle(tx, 's1', title));
const shown = (): string | undefined => simulator.threadName?.(topic);

test('a thread gets the name of its conversation', async () => {
  await nameChats(deps, 's1');
  assert.equal(shown(), 'Conversation', 'one without a title keeps what it was called');
  await call('Trip to Rome');
  await nameChats(deps, 's1');
  assert.equal(shown(), 'Trip to Rome');
});

test('a limit is waited out, then the newest title is shown, and messages do not wait for that', async () => {
  await call('Trip to Rome');
  simulator.fail({ what: 'edit', fault: { type: 'rate_limit', retryAfterMs: 600_000 } });
  const naming = nameChats(deps, 's1');
  await until(() => clock.waiting() === 1);
  assert.equal(deps.gate.waitMs(topic), 0);
  await call('Trip to Paris');
  await clock.advance(600_000);
  await naming;
  assert.equal(shown(), 'Trip to Paris');
});

test('while the chat may not be written to, nothing is named', async () => {
  await call('Trip to Rome');
  await deps.gate.close(topic, new PlatformError('rate_limited', 'slowly', { retryAfterMs: 5000 }));
  const naming = nameChats(deps, 's1');
  await until(() => clock.waiting() === 1);
  assert.equal(simulator.log.filter(({ method }) => method === 'editForumTopic').length, 0);
  await clock.advance(5000);
  await naming;
  assert.equal(shown(), 'Trip to Rome');
});

test('a refusal, a limit that lasts too long and an account that is away change nothing and bother nobody', async () => {
  await call('Trip to Rome');
  simulator.fail({ what: 'edit', fault: { type: 'status', status: 400, description: 'not enough rights' } });
  await nameChats(deps, 's1');
  simulator.fail({ what: 'edit', fault: { type: 'rate_limit', retryAfterMs: 3_600_000 } });
  await nameChats(deps, 's1');
  await nameChats({ ...deps, accounts: { adapter: () => undefined } }, 's1');
  assert.equal(shown(), 'Conversation');
});

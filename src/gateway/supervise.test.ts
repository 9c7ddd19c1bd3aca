import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../test/support/whole.ts';
import type { InboundEvent } from '../core/message.ts';
import { manualClock } from '../lib/clock.ts';
import type { ManualClock } from '../lib/clock.ts';
import { capturingLogger } from '../lib/logger.ts';
import type { Platform } from '../platforms/contract.ts';
import { telegram } from '../platforms/telegram/index.ts';
import { telegramOptions } from '../platforms/telegram/options.ts';
import { startTelegramSimulator } from '../platforms/telegram/simulator.ts';
import type { TelegramSimulator } from '../platforms/telegram/simulator.ts';
import { accountData } from '../store/account-data.ts';
import { wishForAccount } from '../store/account-wishes.ts';
import { allStatus } from '../store/accounts.ts';
import { SqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { AccountSupervisor } from './supervise.ts';

interface Scene extends AsyncDisposable {
  readonly simulator: TelegramSimulator;
  readonly clock: ManualClock;
  readonly store: Store;
  readonly lines: readonly string[];
  readonly received: InboundEvent[];
  /** Somebody sets the clock. */
  setClock(ms: number): void;
  supervise(owner: string, options?: Readonly<Record<string, unknown>>): AccountSupervisor;
}

/** A Telegram, a store and a time that only moves when told. */
const newScene = async (): Promise<Scene> => {
  const simulator = await startTelegramSimulator();
  const manual = manualClock(Date.now());
  let setMs = 0;
  const clock = { ...manual, now: () => manual.now() + setMs };
  const folder = await mkdtemp(join(tmpdir(), 'hermes-supervise-'));
  const store = new SqliteStore({ path: join(folder, 'gateway.db'), clock, checkIntegrity: false });
  const { log, lines } = capturingLogger();
  const received: InboundEvent[] = [];
  const supervisors: AccountSupervisor[] = [];
  return {
    simulator,
    clock,
    store,
    lines,
    received,
    setClock: (ms) => void (setMs += ms),
    supervise(owner, options = simulator.options) {
      const supervisor = new AccountSupervisor({
        account: 'telegram',
        platform: telegram as Platform,
        context: { account: 'telegram', options: telegramOptions.parse(options), log, data: accountData(store, 'telegram'), home: folder, mediaFolder: folder },
        store,
        owner,
        clock,
        log,
        takesOver: owner === 'successor',
        redact: (text) => text,
        accept: async (event) => {
          received.push(event);
          return 'stored';
        },
        onUsable: () => undefined,
        onConnected: () => undefined,
      });
      supervisors.push(supervisor);
      supervisor.start();
      return supervisor;
    },
    async [Symbol.asyncDispose]() {
      for (const supervisor of supervisors) await supervisor.stop();
      await store.close();
      await simulator[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
};

const calls = (scene: Scene, method: string): number => scene.simulator.log.filter((call) => call.method === method).length;
/** Those that wait for something to happen; the first of a connection does not. */
const polls = (scene: Scene): number => scene.simulator.log.filter((call) => call.method === 'getUpdates' && call.params['timeout'] !== 0).length;
const hello = { chatId: '7', chatType: 'dm', senderId: '7', text: 'hello' } as const;

test('an account is connected with the first thing it receives, and knows who it is', async () => {
  await using scene = await newScene();
  const supervisor = scene.supervise('a');
  await scene.simulator.say(hello);
  await until(() => scene.received.length === 1, 'the event');
  const { state, identity, name, lastEventAtMs } = supervisor.status;
  assert.deepEqual([state, identity, name], ['connected', String(scene.simulator.bot.id), scene.simulator.bot.username]);
  assert.ok(lastEventAtMs !== null);
  assert.ok(supervisor.adapter !== undefined);
});

test('a connection that has gone silent is reported and renewed, and receives again', async () => {
  await using scene = await newScene();
  const supervisor = scene.supervise('a');
  await until(() => polls(scene) === 1, 'the first poll that waits');
  scene.simulator.fail({ what: 'receive', fault: { type: 'hang' } });
  await until(async () => {
    await scene.clock.advance(5_000);
    return calls(scene, 'getMe') === 2;
  }, 'the connection to be renewed');
  assert.ok(scene.lines.some((line) => line.includes('nothing was heard')));
  await until(() => supervisor.status.state === 'connected', 'the new connection');
  await scene.simulator.say(hello);
  await until(() => scene.received.length === 1, 'the event');
});

test('an account whose receiving fails is not connected because the platform knows it, and is with the first thing it receives', async () => {
  await using scene = await newScene();
  const supervisor = scene.supervise('a');
  await until(() => polls(scene) === 1, 'the first poll that waits');
  const states = new Set<string>();
  const heardMs = supervisor.status.lastAliveAtMs;
  scene.simulator.fail({ what: 'receive', fault: { type: 'status', status: 502 }, count: 4 });
  await until(() => supervisor.status.attempts === 1, 'the first failure');
  for (let attempt = 2; attempt <= 4; attempt += 1) {
    await until(async () => {
      await scene.clock.advance(1_000);
      states.add(supervisor.status.state);
      return supervisor.status.attempts === attempt;
    }, `failure ${attempt}`);
    assert.equal(supervisor.status.lastAliveAtMs, heardMs, 'to be known is no sign of life');
  }
  assert.equal(calls(scene, 'getMe'), 4);
  assert.ok(!states.has('connected'), [...states].join());
  await until(async () => {
    await scene.clock.advance(1_000);
    return supervisor.status.state === 'connected';
  }, 'the first answer to a poll');
  assert.deepEqual([supervisor.status.attempts, supervisor.status.error, supervisor.status.lastAliveAtMs !== heardMs], [0, null, true]);
  await until(async () => (await scene.store.read(allStatus))[0]?.state === 'connected', 'others to know it without waiting for the next tick');
});

test('an account that is deaf from its very first poll never counts as connected', async () => {
  await using scene = await newScene();
  scene.simulator.fail({ what: 'receive', fault: { type: 'hang' } });
  const supervisor = scene.supervise('a');
  await until(() => scene.simulator.log.some(({ method }) => method === 'getUpdates'), 'the first poll');
  assert.deepEqual([supervisor.status.state, supervisor.status.name], ['connecting', scene.simulator.bot.username]);
  await until(async () => {
    await scene.clock.advance(5_000);
    return supervisor.status.attempts === 1;
  }, 'the silence to be noticed');
  assert.equal((await scene.store.read(allStatus))[0]?.connectedAtMs, null);
});

test('a connection that hears nothing from its beginning is given up after the time of silence, not at once', async () => {
  await using scene = await newScene();
  const supervisor = scene.supervise('a');
  await until(() => polls(scene) === 1, 'the first poll that waits');
  scene.simulator.fail({ what: 'receive', fault: { type: 'hang' }, count: 2 });
  const renewed = async (times: number): Promise<number> => {
    const fromMs = scene.clock.now();
    await until(async () => {
      await scene.clock.advance(5_000);
      return scene.lines.filter((line) => line.includes('nothing was heard')).length === times;
    }, 'the silence to be noticed');
    return scene.clock.now() - fromMs;
  };
  await renewed(1);
  await until(async () => {
    await scene.clock.advance(1_000);
    return calls(scene, 'getMe') === 2;
  }, 'the next connection');
  assert.ok((await renewed(2)) >= 100_000);
  assert.equal(supervisor.status.attempts, 2);
});

test('a clock that is set back does not hide that a connection has gone silent', async () => {
  await using scene = await newScene();
  const supervisor = scene.supervise('a');
  await scene.simulator.say(hello);
  await until(() => scene.received.length === 1 && calls(scene, 'getUpdates') >= 2, 'the event, and the next poll');
  scene.setClock(-86_400_000);
  scene.simulator.fail({ what: 'receive', fault: { type: 'hang' } });
  for (let i = 0; i < 60 && calls(scene, 'getMe') < 2; i += 1) await scene.clock.advance(5_000);
  await until(() => calls(scene, 'getMe') === 2, 'the connection to be renewed');
  assert.ok((supervisor.status.lastEventAtMs ?? 0) <= scene.clock.now());
});

test('a refused credential is tried again slowly, and says so', async () => {
  await using scene = await newScene();
  const supervisor = scene.supervise('a', scene.simulator.badOptions);
  await until(() => supervisor.status.state === 'refused', 'the refusal');
  assert.equal(supervisor.status.errorCode, 'bad_credential');
  await scene.clock.advance(29_000);
  assert.equal(calls(scene, 'getMe'), 1);
  await scene.clock.advance(31_000);
  await until(() => calls(scene, 'getMe') === 2, 'the next try');
});

test('a broken connection is made again with growing pauses, which start anew once there was traffic', async () => {
  await using scene = await newScene();
  scene.simulator.fail({ what: 'identify', fault: { type: 'status', status: 502 }, count: 3 });
  const supervisor = scene.supervise('a');
  await until(() => supervisor.status.attempts === 1, 'the first failure');
  for (let attempt = 2; attempt <= 3; attempt += 1) {
    await scene.clock.advance(2 ** (attempt - 1) * 1000);
    await until(() => supervisor.status.attempts === attempt, `failure ${attempt}`);
  }
  await scene.clock.advance(8000);
  await until(() => supervisor.status.state === 'connected', 'the connection');
  await scene.simulator.say(hello);
  await until(() => scene.received.length === 1 && supervisor.status.attempts === 0, 'traffic');
});

test('a store that fails is survived: the account waits and the process lives', async () => {
  await using scene = await newScene();
  await scene.store.close();
  const supervisor = scene.supervise('a');
  await until(() => supervisor.status.state === 'waiting', 'the failure');
  await scene.clock.advance(60_000);
  await until(() => supervisor.status.attempts > 1, 'further tries');
  assert.equal(calls(scene, 'getMe'), 0);
});

test('a store that begins to fail under a connected account is survived as well', async () => {
  await using scene = await newScene();
  const supervisor = scene.supervise('a');
  await until(() => polls(scene) === 1, 'the first poll that waits');
  await scene.store.close();
  scene.simulator.fail({ what: 'receive', fault: { type: 'status', status: 502 } });
  await until(() => scene.lines.some((line) => line.includes('account.status_not_saved')), 'the failure');
  await scene.clock.advance(60_000);
  await until(() => supervisor.status.attempts > 1, 'further tries');
});

test('a second gateway stands by: it may call the platform, leaves the status alone, and takes over when the first has gone', async () => {
  await using scene = await newScene();
  const first = scene.supervise('a');
  await until(() => first.status.state === 'connected', 'the first to connect');
  const second = scene.supervise('b');
  await until(() => second.adapter !== undefined, 'the second to stand by');
  assert.deepEqual([second.status.state, second.status.errorCode], ['waiting', 'held']);
  assert.equal((await scene.store.read(allStatus))[0]?.state, 'connected');
  assert.equal(calls(scene, 'getMe'), 1);
  await first.stop();
  assert.equal((await scene.store.read(allStatus))[0]?.state, 'stopped');
  await scene.clock.advance(10_000);
  await until(() => second.status.state === 'connected', 'the second to take over');
  await scene.simulator.say(hello);
  await until(() => scene.received.length === 1, 'the event');
});

test('a gateway that is still connecting keeps the account, however long the platform takes', async () => {
  await using scene = await newScene();
  scene.simulator.fail({ what: 'identify', fault: { type: 'hang' } });
  const first = scene.supervise('a');
  await until(() => calls(scene, 'getMe') === 1, 'the platform to be asked');
  for (let i = 0; i < 8; i += 1) await scene.clock.advance(5_000);
  const second = scene.supervise('b');
  await until(() => second.status.errorCode === 'held' || calls(scene, 'getMe') > 1, 'the second to look');
  assert.deepEqual([first.status.state, second.status.errorCode, calls(scene, 'getMe')], ['connecting', 'held', 1]);
});

test('what is called while a successor waits for the account is kept waiting until it receives; one that only stands by says no at once', async () => {
  await using scene = await newScene();
  const first = scene.supervise('a');
  await until(() => first.status.state === 'connected', 'the first to connect');
  const never = new AbortController().signal;
  const standby = scene.supervise('b');
  const successor = scene.supervise('successor');
  await until(() => [standby, successor].every(({ status }) => status.errorCode === 'held'), 'both to stand by');
  await standby.untilReceiving(never);
  let isReceiving = false;
  const waiting = successor.untilReceiving(never).then(() => (isReceiving = true));
  await successor.untilReceiving(AbortSignal.abort());
  assert.equal(isReceiving, false);
  successor.takeOver({ isLast: false });
  await scene.clock.advance(0);
  assert.equal(isReceiving, false);
  await standby.stop();
  await first.stop();
  successor.takeOver({ isLast: false });
  await waiting;
  await until(() => successor.status.state === 'connected', 'the successor to connect');
});

test('a holder whose lease went to another gateway lets go, and no longer speaks about the account', async () => {
  await using scene = await newScene();
  const first = scene.supervise('a');
  await until(() => polls(scene) === 1, 'the first poll that waits');
  await scene.store.write((tx) => tx.q.updateTable('accounts').set({ owner: 'b', lease_until: scene.clock.now() + 60_000, name: 'written by b' }).execute());
  await scene.clock.advance(5_000);
  await until(() => scene.lines.some((line) => line.includes('another gateway has taken this account over')), 'the connection to end');
  await until(() => first.status.state === 'waiting', 'the account to wait');
  const [status] = await scene.store.read(allStatus);
  assert.deepEqual([status?.state, status?.name], ['connected', 'written by b']);
});

const wish = (scene: Scene, want: 'pause' | 'resume' | 'restart', supervisor?: AccountSupervisor) =>
  scene.store.write((tx) => wishForAccount(tx, { account: 'telegram', want, by: '7' })).then(() => supervisor?.reconsider());

test('a paused account reads and sends nothing, also after a restart, and goes on when it may', async () => {
  await using scene = await newScene();
  const supervisor = scene.supervise('a');
  await until(() => polls(scene) === 1, 'the first poll that waits');
  await wish(scene, 'pause', supervisor);
  await until(() => supervisor.status.state === 'paused', 'the pause');
  assert.equal(supervisor.adapter, undefined);
  await until(async () => (await scene.store.read(allStatus))[0]?.state === 'paused', 'the pause to be kept');
  await supervisor.stop();
  const next = scene.supervise('b');
  await until(() => next.status.state === 'paused', 'the pause after the restart');
  await scene.simulator.say(hello);
  const asked = calls(scene, 'getMe');
  await scene.clock.advance(60_000);
  assert.deepEqual([calls(scene, 'getMe'), scene.received.length], [asked, 0]);
  await wish(scene, 'resume', next);
  await until(() => scene.received.length === 1, 'the event that waited');
  assert.ok(next.adapter !== undefined);
});

test('an account connects anew when an admin wants it, once, also when the notification was missed', async () => {
  await using scene = await newScene();
  const supervisor = scene.supervise('a');
  await until(() => polls(scene) === 1, 'the first poll that waits');
  await wish(scene, 'restart');
  await until(async () => {
    await scene.clock.advance(1_000);
    return calls(scene, 'getMe') === 2;
  }, 'the new connection');
  await until(() => supervisor.status.state === 'connected', 'the new connection');
  for (let i = 0; i < 5; i += 1) await scene.clock.advance(5_000);
  assert.deepEqual([calls(scene, 'getMe'), supervisor.status.attempts, supervisor.status.error], [2, 0, null]);
  assert.ok(!scene.lines.some((line) => line.includes('account.disconnected')), 'it is no failure');
});

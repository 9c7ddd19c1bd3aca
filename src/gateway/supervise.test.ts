import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../test/support/whole.ts';
import type { Platform } from '../platforms/contract.ts';
import { telegram } from '../platforms/telegram/index.ts';
import { wishForAccount } from '../store/accounts/account-wishes.ts';
import { allStatus } from '../store/accounts/accounts.ts';
import type { AccountSupervisor } from './supervise.ts';
import { calls, hello, newScene, polls } from './supervise.test-support.ts';
import type { Scene } from './supervise.test-support.ts';

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

test('a platform that never opens, or never says who we are there, is left to itself when the account is to end', async () => {
  const never = new Promise<never>(() => undefined);
  const platform = telegram as Platform;
  for (const open of [() => never, async (context: Parameters<Platform['open']>[0]) => ({ ...(await platform.open(context)), identify: () => never })]) {
    await using scene = await newScene();
    const supervisor = scene.supervise('a', scene.simulator.options, { ...platform, open });
    await until(async () => (await scene.store.read(allStatus))[0]?.state === 'connecting', 'it to try');
    let hasStopped = false;
    const stopped = supervisor.stop().then(() => (hasStopped = true));
    await until(async () => {
      await scene.clock.advance(1000);
      return hasStopped;
    }, 'it to stop');
    await stopped;
  }
});

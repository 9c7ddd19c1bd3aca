import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../test/support/whole.ts';
import { allStatus } from '../store/accounts/accounts.ts';
import { calls, hello, newScene, polls } from './supervise.test-support.ts';

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

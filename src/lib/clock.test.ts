import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { manualClock, slept, systemClock } from './clock.ts';

const reason = new Error('enough');

describe('the clock of the system', () => {
  test('sleeps, and is woken by a signal with its reason', async () => {
    await systemClock.sleep(1);
    const controller = new AbortController();
    const sleeping = systemClock.sleep(60_000, controller.signal);
    controller.abort(reason);
    await assert.rejects(sleeping, reason);
    await assert.rejects(systemClock.sleep(1, controller.signal), reason);
  });

  test('sleeps longer than a timer can count', async () => {
    const controller = new AbortController();
    let woken = false;
    const sleeping = systemClock.sleep(2 ** 31 + 1000, controller.signal).then(
      () => (woken = true),
      () => undefined,
    );
    await systemClock.sleep(20);
    assert.equal(woken, false);
    controller.abort(reason);
    await sleeping;
  });
});

describe('a sleep that may be ended', () => {
  test('says whether the time has passed', async () => {
    const controller = new AbortController();
    assert.equal(await slept(systemClock, 1, controller.signal), true);
    const sleeping = slept(systemClock, 60_000, controller.signal);
    controller.abort(reason);
    assert.equal(await sleeping, false);
    assert.equal(await slept(systemClock, 1, controller.signal), false);
  });

  test('does not hide a failure of the clock', async () => {
    const broken = { now: () => 0, sleep: () => Promise.reject(reason) };
    await assert.rejects(slept(broken, 1, new AbortController().signal), reason);
  });
});

describe('a clock that is moved by hand', () => {
  test('stands still until it is told, then wakes sleepers in the order of their time', async () => {
    const clock = manualClock(1000);
    const woken: string[] = [];
    const sleep = async (name: string, ms: number): Promise<void> => {
      await clock.sleep(ms);
      woken.push(`${name} at ${clock.now()}`);
    };
    const all = Promise.all([sleep('late', 300), sleep('early', 100)]);
    await clock.advance(99);
    assert.deepEqual([woken, clock.now(), clock.waiting()], [[], 1099, 2]);
    await clock.advance(1000);
    await all;
    assert.deepEqual(woken, ['early at 1100', 'late at 1300']);
    assert.equal(clock.now(), 2099);
  });

  test('counts sleeps that begin while it moves', async () => {
    const clock = manualClock(0);
    let ticks = 0;
    const controller = new AbortController();
    const ticking = (async () => {
      while (await slept(clock, 10, controller.signal)) ticks += 1;
    })();
    await clock.advance(100);
    assert.equal(ticks, 10);
    controller.abort(reason);
    await ticking;
    assert.equal(clock.waiting(), 0);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { manualClock } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import { capturingLogger, silentLogger } from '../../lib/logger.ts';
import type { Logger } from '../../lib/logger.ts';
import { eachStore } from '../../../test/support/stores.ts';
import { LaneScheduler } from './lane-scheduler.ts';
import type { LaneSchedulerOptions } from './lane-scheduler.ts';
import { claimLane, enqueueLane, releaseLane } from './lanes.ts';
import type { Store } from '../store.ts';

const enqueue = (store: Store, lane: string): Promise<unknown> => store.write((tx) => enqueueLane(tx, { lane, kind: lane.startsWith('out:') ? 'out' : 'turn' }));

/** Takes the work of a lane away, as somebody who has done it. */
const finish = (store: Store, lane: string): Promise<void> =>
  store.write(async (tx) => {
    const claim = await claimLane(tx, { lane, owner: 'o', leaseMs: 60_000 });
    if (claim !== undefined) await releaseLane(tx, claim, { more: false });
  });

/** Resolves once `condition` holds, looking again after every turn of the event loop. */
const until = async (condition: () => boolean): Promise<void> => {
  const untilMs = Date.now() + 30_000;
  while (!condition()) {
    assert.ok(Date.now() < untilMs, 'it did not happen in time');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
};

interface Parts extends Pick<LaneSchedulerOptions, 'groupOf' | 'ready'> {
  readonly store: Store;
  readonly clock: Clock;
  readonly concurrency?: number;
  readonly log?: Logger;
  work(lane: string): Promise<number | undefined>;
}

const start = (t: TestContext, parts: Parts): LaneScheduler => {
  const scheduler = new LaneScheduler({ kind: 'turn', concurrency: 10, log: silentLogger, ...parts });
  t.after(() => scheduler.stop());
  scheduler.start();
  return scheduler;
};

/** One that has looked for the first time and does not look again, so that only what it is told brings work. */
const startListening = async (t: TestContext, parts: Omit<Parts, 'clock'>): Promise<LaneScheduler> => {
  const clock = manualClock();
  const scheduler = start(t, { ...parts, clock });
  await until(() => clock.waiting() === 1);
  return scheduler;
};

eachStore((_engine, open) => {
  test('a lane with work is brought to the worker at once, and lanes of another kind are not', async (t) => {
    const { store } = await open();
    const worked: string[] = [];
    const scheduler = await startListening(t, {
      store,
      work: async (lane) => {
        worked.push(lane);
        await finish(store, lane);
        return undefined;
      },
    });
    await enqueue(store, 'out:x:1');
    await enqueue(store, 'turn:a');
    await until(() => worked.length > 0);
    await scheduler.stop();
    assert.deepEqual(worked, ['turn:a']);
  });

  test('work whose notification was missed is found by looking', async (t) => {
    const { store, clock, pass } = await open();
    await enqueue(store, 'turn:before');
    const worked = new Set<string>();
    const scheduler = start(t, {
      store,
      clock,
      work: async (lane) => {
        worked.add(lane);
        await finish(store, lane);
        return undefined;
      },
    });
    await until(() => worked.has('turn:before'));
    await store.write((tx) => tx.q.insertInto('lanes').values({ lane: 'turn:silent', kind: 'turn', has_work: 1, ready_at: 0, owner: null, lease_until: 0, fence: 0, stops: 0 }).execute());
    await pass(1100);
    await until(() => worked.has('turn:silent'));
    await scheduler.stop();
  });

  test('a lane is worked on by one at a time, and again when it was announced meanwhile', async (t) => {
    const { store } = await open();
    let inside = 0;
    let most = 0;
    let runs = 0;
    const gate = Promise.withResolvers<void>();
    const scheduler = await startListening(t, {
      store,
      work: async (lane) => {
        inside += 1;
        runs += 1;
        most = Math.max(most, inside);
        if (runs === 1) await gate.promise;
        await finish(store, lane);
        inside -= 1;
        return undefined;
      },
    });
    await enqueue(store, 'turn:a');
    await until(() => runs === 1);
    await enqueue(store, 'turn:a');
    await enqueue(store, 'turn:a');
    gate.resolve();
    await until(() => runs === 2 && inside === 0);
    await scheduler.stop();
    assert.deepEqual([most, runs], [1, 2]);
  });

  test('no more lanes than allowed are worked on at once, and the rest follow', async (t) => {
    const { store, clock } = await open();
    let inside = 0;
    let most = 0;
    const done = new Set<string>();
    const scheduler = start(t, {
      store,
      clock,
      concurrency: 2,
      work: async (lane) => {
        inside += 1;
        most = Math.max(most, inside);
        await finish(store, lane);
        inside -= 1;
        done.add(lane);
        return undefined;
      },
    });
    for (const lane of ['turn:a', 'turn:b', 'turn:c', 'turn:d', 'turn:e']) await enqueue(store, lane);
    await until(() => done.size === 5);
    await scheduler.stop();
    assert.ok(most <= 2);
  });

  test('lanes of one group have places of their own, whatever those of another do', async (t) => {
    const { store } = await open();
    const gate = Promise.withResolvers<void>();
    const begun: string[] = [];
    const scheduler = await startListening(t, {
      store,
      concurrency: 2,
      groupOf: (lane) => lane.split('-', 1)[0] ?? '',
      work: async (lane) => {
        begun.push(lane);
        if (lane.startsWith('turn:stuck')) await gate.promise;
        await finish(store, lane);
        return undefined;
      },
    });
    for (const lane of ['turn:stuck-1', 'turn:stuck-2', 'turn:stuck-3', 'turn:free-1']) await enqueue(store, lane);
    await until(() => begun.includes('turn:free-1'));
    assert.deepEqual(begun.filter((lane) => lane.startsWith('turn:stuck')), ['turn:stuck-1', 'turn:stuck-2']);
    gate.resolve();
    await until(() => begun.includes('turn:stuck-3'));
    await scheduler.stop();
  });

  test('whoever says what is ready is told which groups have no place left', async (t) => {
    const { store, clock, pass } = await open();
    const gate = Promise.withResolvers<void>();
    const full: boolean[][] = [];
    const scheduler = start(t, {
      store,
      clock,
      concurrency: 1,
      groupOf: (lane) => lane,
      ready: async (_db, _limit, isFull) => {
        full.push(['turn:a', 'turn:b'].map((lane) => isFull(lane)));
        return [{ lane: 'turn:a', kind: 'turn' }];
      },
      work: () => gate.promise.then(() => undefined),
    });
    await until(() => full.length === 1);
    await pass(1100);
    await until(() => full.length > 1);
    gate.resolve();
    await scheduler.stop();
    assert.deepEqual(full.slice(0, 2), [[false, false], [true, false]]);
  });

  test('a worker that has to wait is called again after its time', async (t) => {
    const { store, clock, pass } = await open();
    const calls: number[] = [];
    const scheduler = start(t, {
      store,
      clock,
      work: async (lane) => {
        calls.push(clock.now());
        if (calls.length === 1) return 50;
        await finish(store, lane);
        return undefined;
      },
    });
    scheduler.wake('turn:a');
    await until(() => calls.length === 1);
    await pass(80);
    await until(() => calls.length === 2);
    await scheduler.stop();
    assert.ok((calls[1] ?? 0) - (calls[0] ?? 0) >= 45);
  });

  test('a worker that fails is reported and called again, and others go on', async (t) => {
    const { store, clock, pass } = await open();
    const { log, lines } = capturingLogger();
    const calls: string[] = [];
    const scheduler = start(t, {
      store,
      clock,
      log,
      work: async (lane) => {
        calls.push(lane);
        if (lane === 'turn:bad' && calls.filter((call) => call === lane).length === 1) throw new Error('broken');
        await finish(store, lane);
        return undefined;
      },
    });
    await enqueue(store, 'turn:bad');
    await until(() => calls.includes('turn:bad'));
    await enqueue(store, 'turn:good');
    await until(() => calls.includes('turn:good'));
    await pass(1100);
    await until(() => calls.filter((call) => call === 'turn:bad').length >= 2);
    await scheduler.stop();
    assert.ok(lines.some((line) => line.includes('lane.failed')));
  });

  test('stopping lets what is under way end and takes nothing new', async (t) => {
    const { store, clock } = await open();
    const calls: string[] = [];
    const gate = Promise.withResolvers<void>();
    const scheduler = start(t, {
      store,
      clock,
      work: async (lane) => {
        calls.push(lane);
        await gate.promise;
        return undefined;
      },
    });
    await enqueue(store, 'turn:a');
    await until(() => calls.length === 1);
    let stopped = false;
    const stopping = scheduler.stop().then(() => {
      stopped = true;
    });
    await enqueue(store, 'turn:b');
    scheduler.wake('turn:c');
    assert.equal(stopped, false);
    gate.resolve();
    await stopping;
    assert.deepEqual(calls, ['turn:a']);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { manualClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { platforms } from '../../platforms/registry.ts';
import { routingSections } from '../../routing/options.ts';
import { claimLane, enqueueLane, releaseLane, turnLane } from '../../store/lanes/lanes.ts';
import { createSession } from '../../store/sessions/sessions.ts';
import type { Store } from '../../store/store.ts';
import { newAgentLimits } from './agent-limits.ts';
import { SingleTurns } from './single-turns.ts';

const agents = routingSections[0].schema.parse({ a: { max_concurrent_turns: 1 }, b: {} });
const settings = () => ({ agents });
const never = new AbortController().signal;

/** A conversation of the agent that has something to do. */
const speak = (store: Store, id: string): Promise<void> =>
  store.write(async (tx) => {
    await createSession(tx, { id, agent: 'a', account: 'telegram', chatType: 'dm' });
    await enqueueLane(tx, { lane: turnLane(id), kind: 'turn' });
  });

eachStore((_engine, open) => {
  test('an agent without a limit takes on everything, one with a limit keeps others waiting until it has a hand free', async () => {
    const { store } = await open();
    const clock = manualClock();
    const singles = new SingleTurns({ store, clock, log: silentLogger, settings });
    for (const _ of [1, 2, 3]) assert.ok(await singles.enter('b', never));
    const first = (await singles.enter('a', never)) ?? assert.fail();
    let entered = false;
    const second = singles.enter('a', never).then((slot) => ((entered = true), slot));
    while (clock.waiting() === 0) await new Promise(setImmediate);
    assert.deepEqual([entered, singles.count('a')], [false, 1]);
    await first[Symbol.asyncDispose]();
    await clock.advance(200);
    await (await second)?.[Symbol.asyncDispose]();
    assert.deepEqual([entered, singles.count('a')], [true, 0]);
  });

  test('conversations and single turns of an agent count together, both ways', async () => {
    const { store } = await open();
    const singles = new SingleTurns({ store, clock: manualClock(), log: silentLogger, settings });
    const limits = newAgentLimits({ clock: manualClock(), settings, platform: (name) => platforms.find((each) => each.name === name), singles: (agent) => singles.count(agent) });
    await speak(store, 's1');
    const held = () => store.write((tx) => limits.holdBack(tx, turnLane('s1')));
    const slot = (await singles.enter('a', never)) ?? assert.fail();
    assert.deepEqual([await held(), (await store.read((db) => limits.ready(db, 10))).length], [{ type: 'wait', ms: undefined }, 0]);
    const woken = Promise.withResolvers<string>();
    using _listening = store.listen('lane', (lane) => woken.resolve(lane));
    await slot[Symbol.asyncDispose]();
    assert.equal(await woken.promise, turnLane('s1'));
    assert.equal(await held(), undefined);
    const claim = (await store.write((tx) => claimLane(tx, { lane: turnLane('s1'), owner: 'o', leaseMs: 60_000 }))) ?? assert.fail();
    assert.equal(await singles.enter('a', AbortSignal.abort()), undefined);
    await store.write((tx) => releaseLane(tx, claim, { more: false }));
    assert.ok(await singles.enter('a', never));
  });

  test('a store that cannot be asked costs the agent no hand', async () => {
    const { store } = await open();
    const away = Object.create(store, { read: { value: () => Promise.reject(new Error('away')) } }) as Store;
    const singles = new SingleTurns({ store: away, clock: manualClock(), log: silentLogger, settings });
    await assert.rejects(singles.enter('a', never), /away/);
    assert.equal(singles.count('a'), 0);
  });

  test('whoever waits too long is turned away', async () => {
    const { store } = await open();
    const clock = manualClock();
    const singles = new SingleTurns({ store, clock, log: silentLogger, settings });
    await singles.enter('a', never);
    let late: unknown = 'waiting';
    const waiting = singles.enter('a', never).then((slot) => (late = slot));
    for (;;) {
      if (late !== 'waiting') break;
      await new Promise(setImmediate);
      if (clock.waiting() > 0) await clock.advance(10_000);
    }
    assert.equal(await waiting, undefined);
    assert.equal(singles.count('a'), 1);
  });
});

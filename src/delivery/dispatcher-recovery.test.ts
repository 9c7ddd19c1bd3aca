import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLiveAccount } from '../../test/support/live-account.ts';
import { StoreError } from '../core/errors.ts';
import { manualClock } from '../lib/clock.ts';
import type { Store } from '../store/store.ts';
import { enqueueTo, fenceOf, hour, outboxOf, passUntil, shownIn, startDispatcher } from './dispatcher.test-support.ts';

type Fault = 'confirmation lost' | 'not written' | 'broken';

/** The store with trouble in its writes, in the order of `faults`; then it works. */
const troubled = (store: Store, faults: readonly (Fault | undefined)[]): Store => {
  const left = [...faults];
  const write: Store['write'] = async (work, options) => {
    const fault = left.shift();
    if (fault === 'not written') throw new StoreError('unavailable', 'the connection was refused');
    if (fault === 'broken') throw new StoreError('failed', 'scripted');
    const result = await store.write(work, options);
    if (fault === 'confirmation lost') throw new StoreError('unavailable', 'the connection broke behind the commit');
    return result;
  };
  return { engine: store.engine, write, read: (work) => store.read(work), listen: (...to) => store.listen(...to), tidy: () => store.tidy(), emptyLog: (ms) => store.emptyLog(ms), close: () => store.close() };
};

for (const [what, faults] of [
  ['the claim', ['confirmation lost']],
  ['a result', [undefined, 'confirmation lost']],
  ['both', ['confirmation lost', 'confirmation lost']],
] as const) {
  test(`when the store took ${what} and could not say so, nothing is doubled, marked or held up`, async () => {
    await using live = await openLiveAccount();
    for (const text of ['one', 'two', 'three']) await enqueueTo(live, '7', text);
    await using _sending = startDispatcher(live, { store: troubled(live.store, faults) });
    await passUntil(live, 100, async () => (await outboxOf(live)).every(({ state }) => state === 'sent'), 'all to be sent');
    assert.deepEqual(shownIn(live, '7'), ['one', 'two', 'three']);
    assert.deepEqual((await outboxOf(live)).map(({ attempts, repeated }) => [attempts, repeated]), [[1, 0], [1, 0], [1, 0]]);
  });
}

test('a call whose result could not be written is repeated with a mark, also when the lane is asked for twice', async () => {
  await using live = await openLiveAccount();
  await enqueueTo(live, '7', 'one');
  await using _sending = startDispatcher(live, { store: troubled(live.store, [undefined, 'broken', 'not written']) });
  await passUntil(live, 1000, async () => (await outboxOf(live))[0]?.state === 'sent', 'the repeat');
  assert.deepEqual(shownIn(live, '7'), ['one', '♻️ Possibly a repeat:\none']);
});

test('many that are too old are given up a few at a time, so that others can write meanwhile', async () => {
  await using live = await openLiveAccount();
  for (let i = 0; i < 120; i += 1) await enqueueTo(live, '7', `old ${i}`);
  const before = await fenceOf(live);
  await live.clock.advance(25 * hour);
  await enqueueTo(live, '7', 'new');
  await using _sending = startDispatcher(live);
  await passUntil(live, 1000, () => shownIn(live, '7').length === 1, 'what is newer');
  assert.deepEqual(shownIn(live, '7'), ['new']);
  assert.equal((await outboxOf(live)).filter(({ state }) => state === 'failed').length, 120);
  assert.ok((await fenceOf(live)) - before >= 3, 'the lane was given back in between');
});

test('the clock of the database says what is too old, not that of the gateway', async () => {
  await using live = await openLiveAccount();
  await enqueueTo(live, '7', 'one');
  await using _sending = startDispatcher(live, { clock: manualClock(live.clock.now() + 48 * hour) });
  await passUntil(live, 1000, async () => (await outboxOf(live))[0]?.state !== 'pending' && (await outboxOf(live))[0]?.state !== 'sending', 'an end');
  assert.deepEqual(shownIn(live, '7'), ['one']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newSlots } from './slots.ts';

const never = new AbortController().signal;

test('no more work runs at a time than there are slots, and whoever gives up waiting takes none', async () => {
  const slots = newSlots(2);
  const gate = Promise.withResolvers<void>();
  let running = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    await gate.promise;
    running -= 1;
  };
  const stop = new AbortController();
  const all = [slots.run(never, work), slots.run(never, work), slots.run(never, work)];
  const impatient = slots.run(stop.signal, work);
  stop.abort(new Error('stop'));
  await assert.rejects(impatient, { message: 'stop' });
  gate.resolve();
  await Promise.all(all);
  assert.equal(most, 2);
  assert.equal(await slots.run(never, async () => 'free'), 'free');
});

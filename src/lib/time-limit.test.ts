import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { test } from 'node:test';
import { timeLimit } from './time-limit.ts';

test('the signal is aborted when the time is up', async () => {
  using limit = timeLimit(1, new AbortController().signal);
  await once(limit.signal, 'abort');
  assert.equal((limit.signal.reason as DOMException).name, 'TimeoutError');
});

test('the signal is aborted with what is around it, also when that is over already', () => {
  const around = new AbortController();
  using limit = timeLimit(60_000, around.signal);
  around.abort(new Error('enough'));
  assert.equal((limit.signal.reason as Error).message, 'enough');
  using late = timeLimit(60_000, around.signal);
  assert.equal((late.signal.reason as Error).message, 'enough');
});

test('nothing is left of a limit once its work is done', () => {
  const around = new AbortController();
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const limit = timeLimit(60_000, around.signal);
  assert.equal(timers(), before + 1);
  limit[Symbol.dispose]();
  assert.deepEqual([timers(), getEventListeners(around.signal, 'abort').length, limit.signal.aborted], [before, 0, false]);
});

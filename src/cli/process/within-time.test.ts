import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withinTime } from './within-time.ts';

const never = (): Promise<never> => new Promise(() => undefined);

test('work that ends in time has its result, and its signal ends with it', async () => {
  let signal: AbortSignal | undefined;
  assert.equal(await withinTime(60_000, new AbortController().signal, async (inTime) => ((signal = inTime), 7)), 7);
  assert.equal(signal?.aborted, true);
});

test('work that takes no notice of its signal is left when the time is up', async () => {
  await assert.rejects(withinTime(5, new AbortController().signal, never), /no answer within/);
});

test('whoever asked can leave at once, with their own reason', async () => {
  const leaving = new AbortController();
  const reason = new Error('left');
  const waiting = withinTime(60_000, leaving.signal, never);
  leaving.abort(reason);
  await assert.rejects(waiting, reason);
});

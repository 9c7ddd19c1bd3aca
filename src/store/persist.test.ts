import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreError } from '../core/errors.ts';
import { manualClock } from '../lib/clock.ts';
import { capturingLogger } from '../lib/logger.ts';
import { isPassing, persist } from './persist.ts';

const full = new StoreError('full', 'no space');
const failing = (times: number, error: Error): (() => Promise<string>) => {
  let left = times;
  return () => {
    left -= 1;
    return left >= 0 ? Promise.reject(error) : Promise.resolve('written');
  };
};

test('only trouble that may pass is waited for', () => {
  for (const code of ['full', 'busy', 'unavailable'] as const) assert.ok(isPassing(new StoreError(code, '')));
  for (const code of ['lane_lost', 'corrupt', 'failed', 'newer', 'unwritable'] as const) assert.ok(!isPassing(new StoreError(code, '')));
  assert.ok(!isPassing(new Error('full')));
});

test('a write is repeated, with growing pauses and a line each time, until it works', async () => {
  const clock = manualClock();
  const { log, lines } = capturingLogger();
  const written = persist(failing(3, full), { clock, log, signal: new AbortController().signal });
  await clock.advance(250 + 500);
  assert.equal(lines.length, 3);
  await clock.advance(750);
  assert.equal(await written, 'written');
});

test('other trouble is thrown at once', async () => {
  const lost = new StoreError('lane_lost', '');
  const { log, lines } = capturingLogger();
  await assert.rejects(persist(failing(1, lost), { clock: manualClock(), log, signal: new AbortController().signal }), lost);
  assert.equal(lines.length, 0);
});

test('when patience is ended the write is tried once more and then given up', async () => {
  const clock = manualClock();
  const controller = new AbortController();
  const { log } = capturingLogger();
  const written = persist(failing(100, full), { clock, log, signal: controller.signal });
  await clock.advance(100);
  controller.abort();
  await assert.rejects(written, full);
});

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { brakeMs, noteOrderlyEnd, noteStart } from './start-brake.ts';

test('five starts within two minutes are free; each further one waits longer, at most five minutes', () => {
  const before = (count: number) => Array.from({ length: count - 1 }, (_, i) => ({ atMs: i, waitMs: 0 }));
  assert.deepEqual([1, 5, 6, 7, 8, 20].map((count) => brakeMs(before(count), 1000)), [0, 0, 10_000, 20_000, 40_000, 300_000]);
  assert.equal(brakeMs(before(20), 200_000), 0);
});

test('one that dies soon after every start waits longer and longer, although the waits take longer than two minutes together', async () => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-brake-'));
  const diesAfterMs = 8000;
  const waits: number[] = [];
  try {
    for (let nowMs = 0; waits.length < 14; nowMs += (waits.at(-1) ?? 0) + diesAfterMs) waits.push(await noteStart(home, nowMs));
    assert.deepEqual(waits, [0, 0, 0, 0, 0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000, 300_000]);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});

test('an orderly end forgets the starts before it, and a broken file counts for none', async () => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-brake-'));
  try {
    for (let i = 0; i < 5; i += 1) assert.equal(await noteStart(home, i), 0);
    assert.equal(await noteStart(home, 6), 10_000);
    noteOrderlyEnd(home);
    assert.equal(await noteStart(home, 7), 0);
    await writeFile(join(home, 'gateway-starts.json'), '{"half');
    assert.equal(await noteStart(home, 8), 0);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});

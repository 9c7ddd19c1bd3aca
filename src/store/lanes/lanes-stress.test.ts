import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { participate } from '../../../test/support/lane-stress.ts';
import type { Participant, Step } from '../../../test/support/lane-stress.ts';
import { eachStore } from '../../../test/support/stores.ts';

const lanes = 12;
const names = ['p1', 'p2', 'p3', 'p4'];

const inProcess = async (participant: Participant): Promise<void> => {
  const script = fileURLToPath(new URL('../../../test/support/lane-stress.ts', import.meta.url));
  await promisify(execFile)(process.execPath, [script, JSON.stringify(participant)]);
};

/** Follows a lane step by step: one item at a time, each ended once by whoever held the lane last, in the order of every producer. */
const followLane = (steps: readonly Step[]): number => {
  const reached = new Map<string, number>();
  let open: Step | undefined;
  let ended = 0;
  let fence = 0;
  for (const step of steps) {
    assert.ok(step.fence >= fence, `the fence of ${step.lane} went back`);
    fence = step.fence;
    if (step.type === 'start') {
      if (open !== undefined) assert.ok(step.item === open.item && step.fence > open.fence, `${step.lane}: ${step.owner} began ${step.item} while ${open.owner} held ${open.item}`);
      open = step;
      continue;
    }
    assert.deepEqual([open?.item, open?.owner, open?.fence], [step.item, step.owner, step.fence], `${step.lane}: an item was ended by somebody else`);
    open = undefined;
    ended += 1;
    const [producer = '', number = ''] = step.text.split(' ');
    assert.equal(Number(number), reached.get(producer) ?? 0, `${step.lane}: out of order`);
    reached.set(producer, Number(number) + 1);
  }
  assert.equal(open, undefined);
  return ended;
};

eachStore((engine, open) => {
  test('under contention, with owners that stall, nothing is lost, repeated, overtaken or worked on by two', { timeout: 600_000 }, async () => {
    const { store, location } = await open();
    const items = engine === 'sqlite' ? 500 : 250;
    const participants = names.map((name): Participant => ({ name, location, lanes, items, total: items * names.length }));
    await Promise.all(participants.map((participant, i) => (i < 2 ? inProcess(participant) : participate(participant))));
    const rows = await store.read((db) => db.q.selectFrom('journal').select('entry').where('account', '=', 'stress').orderBy('seq').execute());
    const byLane = Map.groupBy(rows.map((row) => JSON.parse(row.entry) as Step), (step) => step.lane);
    assert.equal(byLane.size, lanes);
    let ended = 0;
    for (const steps of byLane.values()) ended += followLane(steps);
    assert.equal(ended, items * names.length);
    const takenOver = rows.length - 2 * ended;
    assert.ok(takenOver > 0, 'a stalled owner lost its lane');
    const idle = await store.read((db) => db.q.selectFrom('lanes').selectAll().where((eb) => eb.or([eb('has_work', '=', 1), eb('owner', 'is not', null)])).execute());
    assert.deepEqual(idle, []);
  });
});

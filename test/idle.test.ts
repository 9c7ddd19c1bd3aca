import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { peek } from './support/scenes.ts';
import { newWorld, startOutside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

const tables = ['inbox', 'outbox', 'messages', 'turns', 'lanes', 'nodes', 'journal', 'gates', 'denials', 'cursors', 'account_values', 'sessions', 'bindings'] as const;

const rowCounts = (world: World): Promise<readonly number[]> =>
  peek(world, (store) => Promise.all(tables.map(async (table) => Number((await store.read((db) => db.q.selectFrom(table).select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow())).count))));

/** Milliseconds of processor time, from the ticks of Linux. */
const cpuMs = async (pid: number | undefined): Promise<number> => {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
};

test('a gateway with nothing to do writes nothing that grows', async (t) => {
  await using world = await newWorld();
  await using outside = await startOutside(world);
  await world.say('hello');
  await until(() => world.shown().length === 1, 'an answer');
  const measures = process.platform === 'linux';
  await until(async () => (await rowCounts(world))[1] === 1, 'the answer to be stored');
  const used = measures ? await cpuMs(outside.child.pid) : 0;
  const looks = [await rowCounts(world)];
  // What the start and the answer have left to do may come late, and comes once.
  do {
    await new Promise((resolve) => setTimeout(resolve, 2500));
    looks.push(await rowCounts(world));
  } while (looks.length < 6 && !isDeepStrictEqual(looks.at(-1), looks.at(-2)));
  if (measures) t.diagnostic(`${(await cpuMs(outside.child.pid)) - used} ms of CPU in ${(looks.length - 1) * 2.5} s`);
  assert.deepEqual(looks.at(-1), looks.at(-2));
});

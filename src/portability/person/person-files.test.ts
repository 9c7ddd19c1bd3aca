import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { manualClock } from '../../lib/clock.ts';
import { SqliteStore } from '../../store/engines/sqlite.ts';
import { findPerson } from '../../store/person/find-person.ts';
import { exportPerson } from './export-person.ts';
import { eraseFiles } from './person-files.ts';

test('a file that is gone by itself keeps no other from being exported', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-export-'));
  const store = new SqliteStore({ path: join(folder, 'gateway.db'), clock: manualClock(), checkIntegrity: false });
  try {
    for (const name of ['a.png', 'c.png']) await writeFile(join(folder, name), name);
    const person = { account: 'telegram', userId: '7' };
    const data = await store.read((db) => findPerson(db, person));
    const files = { media: ['a.png', 'b.png', 'c.png'].map((name) => join(folder, name)), outgoing: [], memories: [], traces: [] };
    await exportPerson(store, person, { data, files, home: folder, folder: join(folder, 'out'), nowMs: 0 });
    assert.deepEqual((await readdir(join(folder, 'out', 'files'))).toSorted(), ['a.png', 'c.png']);
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
});

test('a file that is gone by itself keeps no other from being erased', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-erase-'));
  const store = new SqliteStore({ path: join(folder, 'gateway.db'), clock: manualClock(), checkIntegrity: false });
  try {
    for (const name of ['a.png', 'c.png', 'result.txt']) await writeFile(join(folder, name), name);
    await eraseFiles(store, { media: ['a.png', 'b.png', 'c.png'].map((name) => join(folder, name)), traces: [join(folder, 'result.txt')] });
    assert.deepEqual((await readdir(folder)).filter((name) => !name.startsWith('gateway.db')), []);
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
});

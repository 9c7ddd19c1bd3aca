import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readActs } from '../src/lib/audit-log.ts';
import { systemClock } from '../src/lib/clock.ts';
import { mortal, restoring } from '../src/portability/mortal.test-support.ts';
import { SqliteStore } from '../src/store/engines/sqlite.ts';
import { createSession, listSessions } from '../src/store/sessions/sessions.ts';
import { hermes } from './support/terminal.ts';
import { newWorld, startOutside } from './support/whole.ts';
import type { World } from './support/whole.ts';

const openAt = (home: string): SqliteStore => new SqliteStore({ path: join(home, 'gateway.db'), clock: systemClock, checkIntegrity: true });

const addSession = async (home: string, id: string): Promise<void> => {
  const store = openAt(home);
  await store.write((tx) => createSession(tx, { id, agent: 'main', account: 'local', chatType: 'dm', userId: 'me' }));
  await store.close();
};

const sessionsIn = async (home: string): Promise<readonly string[]> => {
  const store = openAt(home);
  const sessions = await store.read((db) => listSessions(db, { limit: 10 }));
  await store.close();
  return sessions.map(({ id }) => id).toSorted();
};

/** A home from which everything is away and into which nothing has come: no database, no configuration. Answers the backup. */
const interrupt = async (world: World, outer: string): Promise<string> => {
  const file = join(outer, 'b.tar.gz');
  await addSession(world.home, 'kept');
  assert.equal((await hermes(world, ['backup', file])).code, 0);
  await addSession(world.home, 'since');
  assert.equal(await mortal(restoring(file, world.home), { renames: 5, cache: join(outer, 'compiled') }), 'killed');
  for (const name of ['config.yaml', 'gateway.db']) assert.ok(!existsSync(join(world.home, name)));
  return file;
};

test('whatever looks first at a home in which a restore was killed finishes the restore, says so, and sees all of it', { skip: process.platform === 'win32' && 'no signals' }, async (t) => {
  await using world = await newWorld();
  const outer = await mkdtemp(join(tmpdir(), 'hermes-interrupted-'));
  t.after(() => rm(outer, { recursive: true }));
  const file = await interrupt(world, outer);
  await rename(world.home, join(outer, 'interrupted'));
  const run = (...args: readonly string[]) => async (): Promise<string> => {
    const { out, err } = await hermes(world, args);
    return `${out}${err}`;
  };
  const looks: readonly (readonly [string, () => Promise<string>, RegExp])[] = [
    ['status', run('status'), /has not been started|not running|No account/i],
    ['sessions', run('sessions', 'list'), /kept/],
    ['doctor', run('doctor'), /schema \d+, undamaged/],
    ['backup', run('backup', join(outer, 'next.tar.gz')), /next\.tar\.gz/],
    ['config', run('config', 'show'), /sim-1/],
    ['restore', run('restore', file), /It would replace these .*gateway\.db/],
    [
      'gateway',
      async () => {
        await using gateway = await startOutside(world);
        await gateway.stop();
        return gateway.output();
      },
      /gateway\.started/,
    ],
  ];
  for (const [name, look, expected] of looks) {
    await cp(join(outer, 'interrupted'), world.home, { recursive: true });
    const said = await look();
    assert.match(said, /A restore of .* was interrupted; it is finished now, with everything from .*b\.tar\.gz\. What was there before is in .*replaced-/, name);
    assert.match(said, expected, name);
    assert.deepEqual(await sessionsIn(world.home), ['kept'], name);
    const aside = (await readdir(join(world.home, 'backups'))).find((entry) => entry.startsWith('replaced-')) ?? '';
    assert.deepEqual(await sessionsIn(join(world.home, 'backups', aside)), ['kept', 'since'], name);
    assert.ok(readActs(world.home).some(({ act, subject }) => act === 'restore' && subject?.endsWith('finished after an interruption')), name);
    await rm(world.home, { recursive: true });
  }
});

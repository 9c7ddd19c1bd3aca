import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fingerprintOf, knownHomes, rememberHome } from './known-homes.ts';

test('a home whose disk is away is not listed, and is known again when it is back; one that has been gone for a year is forgotten', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-homes-'));
  t.after(() => rm(folder, { recursive: true }));
  const env = { XDG_STATE_HOME: join(folder, 'state') };
  assert.deepEqual(knownHomes(env), []);
  const [a, b] = [join(folder, 'a'), join(folder, 'b')];
  for (const home of [b, a]) {
    await mkdir(home);
    await rememberHome(env, home);
  }
  assert.deepEqual(knownHomes(env), [a, b]);
  await rename(b, `${b}-away`);
  assert.deepEqual(knownHomes(env), [a]);
  await rememberHome(env, a);
  await rename(`${b}-away`, b);
  assert.deepEqual(knownHomes(env), [a, b]);
  const known = (await readdir(join(folder, 'state'), { recursive: true })).find((name) => name.endsWith(fingerprintOf(b))) ?? '';
  const entry = join(folder, 'state', known);
  await rm(b, { recursive: true });
  await utimes(entry, 0, 0);
  await rememberHome(env, a);
  assert.equal(existsSync(entry), false);
});

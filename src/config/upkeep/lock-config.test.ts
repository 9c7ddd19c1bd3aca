import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ConfigError } from '../../core/errors.ts';
import { manualClock } from '../../lib/clock.ts';
import { samplePlatforms, sampleSections, temporaryHome } from '../sample-config.ts';
import { setSetting } from '../settings/set-setting.ts';
import { whileConfigLocked } from './lock-config.ts';

const urlOf = (name: string): string => JSON.stringify(fileURLToPath(new URL(name, import.meta.url)));

/** Another program that adds users to a list, one after another. */
const adding = (home: string, ids: readonly number[]): Promise<unknown> =>
  promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    `const { setSetting } = await import(${urlOf('../settings/set-setting.ts')});
     const { samplePlatforms: platforms, sampleSections: sections } = await import(${urlOf('../sample-config.ts')});
     for (const id of ${JSON.stringify(ids)}) {
       const value = (before) => JSON.stringify([...before.accounts.find(({ account }) => account === 'telegram').common.allowed_users, String(id)]);
       const outcome = await setSetting({ home: ${JSON.stringify(home)}, env: {}, sections, platforms, path: 'platforms.telegram.allowed_users', value });
       if (!outcome.ok) throw new Error(JSON.stringify(outcome));
     }`,
  ]);

test('of what several programs change at the same moment nothing is lost', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'platforms: { telegram: { token: "123456:abc" } }\n');
  const ids = Array.from({ length: 24 }, (_, i) => 1000 + i);
  await Promise.all([0, 1, 2].map((part) => adding(home.path, ids.filter((id) => id % 3 === part))));
  const text = await readFile(join(home.path, 'config.yaml'), 'utf8');
  assert.deepEqual(ids.filter((id) => !text.includes(String(id))), []);
});

test('of what is changed at the same moment in one process nothing is lost, and only the lock is left beside the files', async () => {
  await using home = await temporaryHome();
  const change = (path: string, value: string) => setSetting({ home: home.path, env: {}, sections: sampleSections, platforms: samplePlatforms, path, value });
  const outcomes = await Promise.all([change('http.port', '9001'), change('platforms.telegram.token', '123456:abc'), change('platforms.telegram.allowed_users', '[7]')]);
  assert.deepEqual(outcomes.map(({ ok }) => ok), [true, true, true]);
  assert.match(await readFile(join(home.path, 'config.yaml'), 'utf8'), /9001[^]*allowed_users|allowed_users[^]*9001/);
  assert.deepEqual((await readdir(home.path)).toSorted(), ['.env', 'config.yaml', 'gateway.lock-config']);
});

test('whoever waits too long for others is told so, and can try again; one that fails lets go', async () => {
  await using home = await temporaryHome();
  const clock = manualClock();
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = whileConfigLocked(home.path, () => {
    begun.resolve();
    return held.promise;
  });
  await begun.promise;
  const second = whileConfigLocked(home.path, async () => 'done', { clock, waitMs: 30_000 });
  const refused = assert.rejects(second, (error) => error instanceof ConfigError && error.exitCode === 1 && /for 30 seconds, so nothing was changed/.test(error.message));
  const over = new AbortController();
  void second.then(() => over.abort(), () => over.abort());
  while (clock.waiting() === 0 && !over.signal.aborted) await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(30_001);
  await refused;
  held.reject(new Error('failed in the middle'));
  await assert.rejects(first, /failed in the middle/);
  assert.equal(await whileConfigLocked(home.path, async () => 'done', { clock, waitMs: 0 }), 'done');
});

import assert from 'node:assert/strict';
import fs from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import { loadConfig } from '../load-config.ts';
import { samplePlatforms, sampleSections, temporaryHome } from '../sample-config.ts';
import { watchConfig } from './watch-config.ts';
import type { Change } from './watch-config.test-support.ts';

test('files that cannot be watched are said, and looked at again after a while', async () => {
  await using folder = await temporaryHome();
  const home = join(folder.path, 'not-yet');
  const stopping = new AbortController();
  const options = { home, env: {}, sections: sampleSections, platforms: samplePlatforms };
  const current = await loadConfig(options);
  assert.ok(current.ok);
  const later = Promise.withResolvers<void>();
  const clock: Clock = { ...systemClock, sleep: (ms, signal) => (ms >= 30_000 ? Promise.race([later.promise, systemClock.sleep(ms, signal)]) : systemClock.sleep(1, signal)) };
  const unwatched: unknown[] = [];
  let changed = Promise.withResolvers<string | undefined>();
  const onChange = ({ config }: Change): boolean => {
    changed.resolve(config.sections.model.default);
    return true;
  };
  const { closed } = await watchConfig({ ...options, current, onChange, onProblem: () => undefined, onUnwatched: (error) => unwatched.push((error as NodeJS.ErrnoException).code), signal: stopping.signal, clock });
  await mkdir(home);
  await writeFile(join(home, 'config.yaml'), 'model: a\n');
  later.resolve();
  assert.equal(await changed.promise, 'a');
  changed = Promise.withResolvers();
  await writeFile(join(folder.path, 'next.yaml'), 'model: b\n');
  await rename(join(folder.path, 'next.yaml'), join(home, 'config.yaml'));
  assert.equal(await changed.promise, 'b');
  stopping.abort();
  await closed;
  assert.deepEqual(unwatched, ['ENOENT']);
});

test('a watch that breaks is said, and made again after a while', async (t) => {
  await using home = await temporaryHome();
  const stopping = new AbortController();
  const options = { home: home.path, env: {}, sections: sampleSections, platforms: samplePlatforms };
  const current = await loadConfig(options);
  assert.ok(current.ok);
  const watch = t.mock.method(fs, 'watch');
  syncBuiltinESMExports();
  try {
    const said = Promise.withResolvers<unknown>();
    const changed = Promise.withResolvers<string | undefined>();
    const onChange = ({ config }: Change): boolean => {
      changed.resolve(config.sections.model.default);
      return true;
    };
    const { closed } = await watchConfig({ ...options, current, onChange, onProblem: () => undefined, onUnwatched: said.resolve, signal: stopping.signal, clock: { ...systemClock, sleep: (_ms, signal) => systemClock.sleep(5, signal) } });
    (watch.mock.calls[0]?.result as FSWatcher | undefined)?.emit('error', new Error('out of watches'));
    assert.match(String(await said.promise), /out of watches/);
    await home.write('config.yaml', 'model: a\n');
    assert.equal(await changed.promise, 'a');
    stopping.abort();
    await closed;
    assert.equal(watch.mock.callCount(), 2);
  } finally {
    watch.mock.restore();
    syncBuiltinESMExports();
  }
});

import assert from 'node:assert/strict';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import { loadConfig } from '../load-config.ts';
import { samplePlatforms, sampleSections, temporaryHome } from '../sample-config.ts';
import { watchConfig } from './watch-config.ts';
import { changeOf, hurriedClock, problemsOf, watchHome } from './watch-config.test-support.ts';
import type { Change } from './watch-config.test-support.ts';

test('a changed section is reported with its new value and whether it can be applied', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'http: { port: 1 }\nmodel: a\n');
  await using watched = await watchHome(home);
  await home.write('config.yaml', 'http: { port: 2 }\nmodel: b\n');
  const first = changeOf(await watched.next());
  assert.deepEqual(first.sections, [{ name: 'model', reload: 'live' }, { name: 'http', reload: 'restart' }]);
  assert.deepEqual([first.config.sections.http.port, first.config.sections.model.default, first.awaitingRestart], [2, 'b', ['http']]);
  await home.write('config.yaml', 'http: { port: 1 }\nmodel: b\n');
  const second = changeOf(await watched.next());
  assert.deepEqual([second.sections, second.awaitingRestart], [[{ name: 'http', reload: 'restart' }], []], 'what runs is what is written again');
});

test('a broken file is reported once and changes nothing, and the mended one arrives', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'model: a\n');
  await using watched = await watchHome(home);
  await home.write('config.yaml', 'model: [\n');
  assert.match(problemsOf(await watched.next())[0] ?? '', /^config\.yaml:\d+:\d+ /);
  await home.write('config.yaml', 'modle: b\n');
  assert.deepEqual(problemsOf(await watched.next()), ['config.yaml:1:1  modle  unknown key; did you mean model?']);
  await home.write('config.yaml', 'model: c\n');
  const change = changeOf(await watched.next());
  assert.deepEqual([change.config.sections.model.default, change.sections.length], ['c', 1]);
});

test('an account that worked is not taken away by a mistake in it, but by a decision', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'platforms: { telegram: { token: t } }\n');
  await using watched = await watchHome(home);
  await home.write('config.yaml', 'model: b\nplatforms: { telegram: { token: t, alowed_users: [1] } }\n');
  assert.match(problemsOf(await watched.next())[0] ?? '', /did you mean allowed_users/);
  await home.write('config.yaml', 'model: b\nplatforms: { telegram: { token: t, allowed_users: [1] }, email: { address: nobody } }\n');
  const mended = changeOf(await watched.next());
  assert.deepEqual([mended.accounts, mended.config.disabled.map(({ account }) => account)], [{ added: [], removed: [], changed: ['telegram'] }, ['email']], 'an account that never worked does not stand in the way');
  await home.write('config.yaml', 'platforms: { telegram: { enabled: false }, email: { enabled: false } }\n');
  assert.deepEqual(changeOf(await watched.next()).accounts, { added: [], removed: ['telegram'], changed: [] });
});

test('files that are written in place are followed, and .env', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'model: a\n');
  await using watched = await watchHome(home);
  await writeFile(join(home.path, 'config.yaml'), 'model: b\n');
  let report = await watched.next();
  // A slow machine may let us see the file between being emptied and being written.
  while ('problems' in report) report = await watched.next();
  assert.equal(report.change.config.sections.model.default, 'b');
  await home.write('.env', 'TELEGRAM_BOT_TOKEN=x\n');
  assert.deepEqual(changeOf(await watched.next()).accounts.added, ['telegram']);
});

test('a file that disappears or is emptied does not take the configuration with it', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'platforms: { telegram: { token: t } }\n');
  await using watched = await watchHome(home);
  await rm(join(home.path, 'config.yaml'));
  assert.match(problemsOf(await watched.next())[0] ?? '', /config\.yaml {2}is gone or empty/);
  await home.write('config.yaml', 'platforms: { telegram: { token: other } }\n');
  assert.deepEqual(changeOf(await watched.next()).accounts.changed, ['telegram']);
});

test('a file behind a link in another folder is followed', async () => {
  await using home = await temporaryHome();
  const folder = join(home.path, 'real');
  await mkdir(folder);
  await writeFile(join(folder, 'mine.yaml'), 'model: a\n');
  await symlink(join(folder, 'mine.yaml'), join(home.path, 'config.yaml'));
  await using watched = await watchHome(home);
  await writeFile(join(folder, 'next.yaml'), 'model: b\n');
  await rename(join(folder, 'next.yaml'), join(folder, 'mine.yaml'));
  assert.equal(changeOf(await watched.next()).config.sections.model.default, 'b');
});

test('a change between the first reading and the watch is not lost, and other files are no change', async () => {
  await using home = await temporaryHome();
  const stopping = new AbortController();
  const options = { home: home.path, env: {}, sections: sampleSections, platforms: samplePlatforms };
  const current = await loadConfig(options);
  assert.ok(current.ok);
  await home.write('config.yaml', 'model: early\n');
  const said = Promise.withResolvers<Change>();
  let changes = 0;
  const onChange = (change: Change): boolean => {
    changes += 1;
    said.resolve(change);
    return true;
  };
  const { closed } = await watchConfig({ ...options, current, onChange, onProblem: () => undefined, onUnwatched: () => undefined, signal: stopping.signal, clock: hurriedClock });
  assert.equal((await said.promise).config.sections.model.default, 'early');
  await home.write('gateway.db', 'x');
  await home.write('config.yaml', 'model: early # the same\n');
  await systemClock.sleep(60);
  stopping.abort();
  await closed;
  assert.equal(changes, 1);
});

test('a failing callback ends the watch with its error, and abort ends it without one', async () => {
  await using home = await temporaryHome();
  const options = { home: home.path, env: {}, sections: sampleSections, platforms: samplePlatforms };
  const current = await loadConfig(options);
  assert.ok(current.ok);
  await home.write('config.yaml', 'model: x\n');
  const failing = await watchConfig({ ...options, current, onChange: () => Promise.reject(new Error('cannot apply')), onProblem: () => undefined, onUnwatched: () => undefined, signal: new AbortController().signal, clock: hurriedClock });
  await assert.rejects(failing.closed, /cannot apply/);
  const aborted = await watchConfig({ ...options, current, onChange: () => true, onProblem: () => undefined, onUnwatched: () => undefined, signal: AbortSignal.abort(), clock: hurriedClock });
  await aborted.closed;
});

test('that the files can be used again is said, also when they are as they were', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'model: a\n');
  await using watched = await watchHome(home);
  await home.write('config.yaml', 'modle: a\n');
  assert.match(problemsOf(await watched.next()).join(), /did you mean model/);
  await home.write('config.yaml', 'model: a\n');
  await watched.mended;
  assert.deepEqual(watched.unread, []);
});

test('a configuration that could not be taken over is told again, also when the files are as they were', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'model: a\n');
  const stopping = new AbortController();
  const options = { home: home.path, env: {}, sections: sampleSections, platforms: samplePlatforms };
  const current = await loadConfig(options);
  assert.ok(current.ok);
  await home.write('config.yaml', 'model: b\n');
  const told: (string | undefined)[] = [];
  const done = Promise.withResolvers<void>();
  const onChange = async ({ config }: Change): Promise<boolean> => {
    told.push(config.sections.model.default);
    if (told.length === 2) await home.write('config.yaml', 'model: a\n');
    if (told.length === 3) done.resolve();
    return told.length === 3;
  };
  const { closed } = await watchConfig({ ...options, current, onChange, onProblem: () => undefined, onUnwatched: () => undefined, signal: stopping.signal, clock: { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 5), signal) } });
  await done.promise;
  stopping.abort();
  await closed;
  assert.deepEqual(told, ['b', 'b', 'a']);
});

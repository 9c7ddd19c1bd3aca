import assert from 'node:assert/strict';
import fs from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import { loadConfig } from './load-config.ts';
import { formatProblem } from './problem.ts';
import { samplePlatforms, sampleSections, temporaryHome } from './sample-config.ts';
import type { TemporaryHome } from './sample-config.ts';
import { newSecretCommands } from './secret-commands.ts';
import { watchConfig } from './watch-config.ts';
import type { ConfigChange } from './watch-config.ts';

type Change = ConfigChange<typeof sampleSections>;
type Report = { readonly change: Change } | { readonly problems: readonly string[] };

/** The real clock with waits cut to a tenth. */
const hurriedClock: Clock = { now: () => systemClock.now(), sleep: (ms, signal) => systemClock.sleep(ms / 10, signal) };

interface Watched extends AsyncDisposable {
  /** The next thing the watch says. */
  next(): Promise<Report>;
  /** Everything it has said that nobody asked for. */
  readonly unread: readonly Report[];
  /** The first time that it says that nothing is wrong any more. */
  readonly mended: Promise<void>;
  /** Stops the watch and waits until it has ended. */
  stop(): Promise<void>;
}

const watchHome = async (home: TemporaryHome): Promise<Watched> => {
  const stopping = new AbortController();
  const options = { home: home.path, env: {}, sections: sampleSections, platforms: samplePlatforms, commands: newSecretCommands() };
  const current = await loadConfig(options);
  assert.ok(current.ok);
  const unread: Report[] = [];
  const mended = Promise.withResolvers<void>();
  let wake = (): void => undefined;
  const say = (report: Report): void => {
    unread.push(report);
    wake();
  };
  const { closed } = await watchConfig({
    ...options,
    current,
    onChange(change) {
      say({ change });
      return true;
    },
    onProblem: (problems) => say({ problems: problems.map(formatProblem) }),
    onMended: () => mended.resolve(),
    onUnwatched: (error) => assert.fail(String(error)),
    signal: stopping.signal,
    clock: hurriedClock,
  });
  const stop = async (): Promise<void> => {
    stopping.abort();
    await closed;
  };
  return {
    unread,
    mended: mended.promise,
    async next() {
      if (unread.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return unread.shift() ?? assert.fail('nothing was said');
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
};

const changeOf = (report: Report): Change => ('change' in report ? report.change : assert.fail(report.problems.join('\n')));
const problemsOf = (report: Report): readonly string[] => ('problems' in report ? report.problems : assert.fail('expected problems'));

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

test('a secret that changes in its own file is taken over, also behind a link and in a folder that did not exist', async () => {
  await using home = await temporaryHome();
  await using vault = await temporaryHome();
  await vault.write('token', '111:first\n');
  await symlink(join(vault.path, 'token'), join(home.path, 'link'));
  await home.write('config.yaml', 'platforms: { telegram: { token_file: link } }\n');
  await using watched = await watchHome(home);
  const tokens = ({ config }: Change): unknown => config.accounts.filter(({ platform }) => platform === 'telegram').map(({ options }) => (options as { token: string }).token);
  // The watch of the secret begins with the first look at the configuration.
  await home.write('config.yaml', 'model: a\nplatforms: { telegram: { token_file: link } }\n');
  changeOf(await watched.next());
  await vault.write('token', '222:second\n');
  const change = changeOf(await watched.next());
  assert.deepEqual(change.accounts.changed, ['telegram']);
  assert.deepEqual(tokens(change), ['222:second']);
  await mkdir(join(home.path, 'new'));
  await writeFile(join(home.path, 'new', 'token'), '333:third');
  await home.write('config.yaml', 'model: a\nplatforms: { telegram: { token_file: new/token } }\n');
  assert.deepEqual(tokens(changeOf(await watched.next())), ['333:third']);
  await rename(join(vault.path, 'token'), join(home.path, 'new', 'token'));
  assert.deepEqual(tokens(changeOf(await watched.next())), ['222:second']);
});

test('a secret file that is gone leaves the account as it was', async () => {
  await using home = await temporaryHome();
  await home.write('token', '111:first\n');
  await home.write('config.yaml', 'platforms: { telegram: { token_file: token } }\n');
  await using watched = await watchHome(home);
  await rm(join(home.path, 'token'));
  assert.match(problemsOf(await watched.next()).join('\n'), /the file .*token does not exist/);
  await home.write('token', '222:second\n');
  assert.deepEqual(changeOf(await watched.next()).accounts.changed, ['telegram']);
});

test('a command is asked again when one of the two files is written, and not when a secret in a file changes', async () => {
  await using home = await temporaryHome();
  const asked = join(home.path, 'asked');
  await writeFile(asked, '');
  await home.write('ask.mjs', `import { appendFileSync } from 'node:fs';\nappendFileSync(${JSON.stringify(asked)}, 'x');\nconsole.log('a-key-of-the-model');\n`);
  await home.write('token', '111:first\n');
  const config = (port: number): string => `http: { port: ${port} }\nmodel: { api_key_cmd: ${JSON.stringify(`${JSON.stringify(process.execPath)} ask.mjs`)} }\nplatforms: { telegram: { token_file: token } }\n`;
  const count = async (): Promise<number> => (await readFile(asked, 'utf8')).length;
  await home.write('config.yaml', config(1));
  await using watched = await watchHome(home);
  await home.write('config.yaml', config(2));
  const { commands } = changeOf(await watched.next());
  assert.equal(await count(), 2);
  await home.write('token', '222:second\n');
  assert.deepEqual(changeOf(await watched.next()).accounts.changed, ['telegram']);
  assert.equal(await count(), 2);
  const again = await loadConfig({ home: home.path, env: {}, sections: sampleSections, platforms: samplePlatforms, commands });
  assert.equal(again.ok && again.sections.model.api_key, 'a-key-of-the-model');
  assert.equal(await count(), 2);
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

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { rememberHome } from '../src/cli/gateway/known-homes.ts';
import { endProcess } from './support/end-process.ts';
import { hermes, openPiped } from './support/terminal.ts';
import { newWorld, startOutside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

/** Nothing of it is left in the folders of whoever runs the tests. */
const inState = (world: World): World => ({ ...world, env: { ...world.env, XDG_STATE_HOME: join(world.home, 'state') } });

const pidOf = async (world: World): Promise<number> => Number(await readFile(join(world.home, 'gateway.pid'), 'utf8'));

const answered = (world: World, text: string): Promise<void> => until(() => world.shown().includes(`re: ${text}`), `an answer to ${text}`);

describe('hermes gateway', { concurrency: 4 }, () => {
  test('starts in the background, answers, starts anew, says so, and stops; nothing is lost in between', async () => {
    await using base = await newWorld();
    const world = inState(base);
    const started = await hermes(world, ['gateway', 'start']);
    assert.deepEqual([started.code, started.err], [0, '']);
    const pid = await pidOf(world);
    after(() => endProcess(pid));
    assert.ok(started.out.includes(`as process ${pid}`), started.out);
    await world.say('hello');
    await answered(world, 'hello');
    assert.match((await hermes(world, ['gateway', 'status'])).out, new RegExp(`^Gateway  running, process ${pid}, for `));
    const again = await hermes(world, ['gateway', 'start']);
    assert.deepEqual([again.code, again.out.includes(`already runs as process ${pid}`)], [0, true]);
    const restarted = await hermes(world, ['gateway', 'restart']);
    assert.deepEqual([restarted.code, restarted.err], [0, '']);
    await world.say('and now?');
    await answered(world, 'and now?');
    const listed = JSON.parse((await hermes(world, ['gateway', 'list', '--json'])).out) as unknown;
    assert.deepEqual(listed, [{ home: world.home, state: 'running', pid: await pidOf(world) }]);
    assert.match((await hermes(world, ['logs', '-n', '500', '--grep', 'gateway.started'])).out, /gateway\.started.*\n.*gateway\.started/);
    const stopped = await hermes(world, ['gateway', 'stop', '--all']);
    assert.deepEqual([stopped.code, stopped.out], [0, `The gateway of ${world.home} has ended.\n`]);
    assert.equal(existsSync(join(world.home, 'gateway.pid')), false);
    assert.equal((await hermes(world, ['gateway', 'stop'])).out, `No gateway runs in ${world.home}.\n`);
    assert.deepEqual(world.shown(), ['re: hello', 're: and now?']);
  });

  test('is started with all of this user without what the shell says for one of them', async () => {
    await using base = await newWorld();
    const world = inState(base);
    await rememberHome(world.env, world.home);
    const started = await hermes({ ...world, env: { ...world.env, HERMES_HTTP_PORT: 'nowhere' } }, ['gateway', 'start', '--all']);
    assert.deepEqual([started.code, started.err.match(/HERMES_HTTP_PORT/g)?.length], [0, 1], started.err);
    assert.equal((await hermes(world, ['gateway', 'stop'])).out, `The gateway of ${world.home} has ended.\n`);
  });

  test('is started once by several that start it at the same time, and each says as which process it runs', async () => {
    await using base = await newWorld();
    const world = inState(base);
    const started = await Promise.all([1, 2, 3].map(() => hermes(world, ['gateway', 'start'])));
    const pid = await pidOf(world);
    assert.deepEqual(started.map(({ code, err }) => [code, err]), [[0, ''], [0, ''], [0, '']]);
    for (const { out } of started) assert.ok(out.includes(`as process ${pid}.`), out);
    assert.equal(started.filter(({ out }) => out.includes('already runs')).length, 2);
    assert.equal((await hermes(world, ['gateway', 'stop'])).code, 0);
  });

  test('says at a start in the background what it has moved in config.yaml', async () => {
    await using base = await newWorld({ timezone: 'Europe/Berlin' });
    const world = inState(base);
    const started = await hermes(world, ['gateway', 'start']);
    assert.equal(started.code, 0, started.err);
    assert.match(started.out, /^Keys of config\.yaml have moved into their new places:\n(?:[-+ ].*\n)*\+.*timezone.*\n(?:.*\n)*The old file is kept as .*backups.*config-.*\.yaml\.\nThe gateway of /);
    assert.ok(!started.out.includes('sk-simulated-model-key'), 'secrets are masked');
    assert.equal((await hermes(world, ['gateway', 'stop'])).code, 0);
    const again = await hermes(world, ['gateway', 'start']);
    assert.match(again.out, /^The gateway of /);
    assert.equal((await hermes(world, ['gateway', 'stop'])).code, 0);
  });

  test('says at a start that it runs with the last configuration that could be used', async () => {
    await using base = await newWorld();
    const world = inState(base);
    assert.equal((await hermes(world, ['gateway', 'start'])).err, '');
    assert.equal((await hermes(world, ['gateway', 'stop'])).code, 0);
    await writeFile(join(world.home, 'config.yaml'), 'http: { prot: 1 }\n');
    try {
      for (const args of [['gateway', 'start'], ['gateway', 'start'], ['gateway', 'restart']]) {
        const { code, err } = await hermes(world, args);
        assert.equal(code, 0, err);
        assert.match(err, /^The configuration of \S+ cannot be used: a gateway runs with the last one that could be, kept \S+\. hermes config check says what is wrong\.\n$/);
      }
    } finally {
      assert.equal((await hermes(world, ['gateway', 'stop'])).code, 0);
    }
  });

  test('is starting, and not running, while it waits because it has died too often; a restart is not forgotten', { skip: process.platform === 'win32' && 'no signals' }, async () => {
    await using base = await newWorld();
    const supervised = inState(base);
    const world = { ...supervised, env: { ...supervised.env, HERMES_GATEWAY_EXTERNAL_SUPERVISOR: 'test' } };
    const now = Date.now();
    await writeFile(join(world.home, 'gateway-starts.json'), JSON.stringify(Array.from({ length: 15 }, (_none, i) => ({ atMs: now - i, waitMs: 0 })).toReversed()));
    await using gateway = openPiped(world, ['gateway', 'run']);
    const shown = async (): Promise<{ readonly running: boolean; readonly starting: string | null; readonly pid: number }> => JSON.parse((await hermes(world, ['status', '--json'])).out) as Awaited<ReturnType<typeof shown>>;
    await until(async () => (await shown()).starting?.includes('Died too often') === true, 'it to wait', 60_000);
    const { running, pid } = await shown();
    assert.equal(running, false);
    assert.match((await hermes(world, ['status'])).out, new RegExp(`^Gateway  starting for \\d+ .*, process ${pid} \\(Died too often; waits 300 s before it starts\\)`));
    assert.match((await hermes(world, ['doctor', '--offline'])).out, /The gateway is starting for .*Died too often/);
    await writeFile(join(world.home, '.gateway-restart.json'), JSON.stringify({ pid, end: 'restart', at_ms: Date.now() }));
    process.kill(pid, 'SIGTERM');
    assert.equal((await gateway.ended).code, 75);
    assert.deepEqual(['gateway-starting.json', 'gateway-starts.json'].map((name) => existsSync(join(world.home, name))), [false, false]);
  });

  test('has its home before it asks for secrets, which may take long, so that whoever looks meanwhile finds it', async () => {
    await using base = await newWorld();
    const world = inState(base);
    const [note, seen] = ['gateway-starting.json', 'seen.json'].map((name) => join(world.home, name)) as [string, string];
    const copy = process.platform === 'win32' ? 'copy' : 'cp';
    await world.configure({ model: { provider: 'openai', default: 'sim-1', base_url: world.model.baseUrl, api_key_cmd: `${copy} "${note}" "${seen}" && echo sk-simulated-model-key` } });
    await using gateway = await startOutside(world);
    assert.equal((JSON.parse(await readFile(seen, 'utf8')) as { readonly pid: number }).pid, gateway.child.pid);
    assert.equal(await gateway.stop(), 0);
  });

  test('that cannot start says why, with its exit code', async () => {
    await using base = await newWorld();
    const world = inState(base);
    await writeFile(join(world.home, 'config.yaml'), 'http: { prot: 1 }\n');
    const started = await hermes(world, ['gateway', 'start']);
    assert.equal(started.code, 78);
    assert.match(started.err, /http\.prot/);
  });

  test('does not touch a process whose number stands in a file that somebody left behind', async () => {
    await using base = await newWorld();
    const world = inState(base);
    await writeFile(join(world.home, 'gateway.pid'), `${process.pid}\n`);
    assert.equal((await hermes(world, ['gateway', 'stop', '--force'])).out, `No gateway runs in ${world.home}.\n`);
    assert.equal(existsSync(join(world.home, 'gateway.pid')), false);
  });

  test('ends the one that has the home, whatever stands in the file', async () => {
    await using base = await newWorld();
    const world = inState(base);
    const bystander = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    try {
      await using first = await startOutside(world);
      await writeFile(join(world.home, 'gateway.pid'), `${bystander.pid ?? 0}\n`);
      assert.deepEqual(JSON.parse((await hermes(world, ['gateway', 'list', '--json'])).out), [{ home: world.home, state: 'running', pid: first.child.pid }]);
      assert.equal((await hermes(world, ['gateway', 'stop'])).out, `The gateway of ${world.home} has ended.\n`);
      await until(() => first.child.exitCode === 0, 'the first to leave');
      await using second = await startOutside(world);
      await rm(join(world.home, 'gateway.pid'));
      assert.equal((await hermes(world, ['gateway', 'stop'])).out, `The gateway of ${world.home} has ended.\n`);
      await until(() => second.child.exitCode === 0, 'the second to leave');
      assert.deepEqual([bystander.exitCode, bystander.signalCode], [null, null]);
    } finally {
      bystander.kill();
    }
  });

  test('stays away when it is stopped after somebody has begun to restart it', async () => {
    await using base = await newWorld();
    const world = inState(base);
    await using first = await startOutside(world);
    await writeFile(join(world.home, '.gateway-restart.json'), JSON.stringify({ pid: first.child.pid, end: 'restart', at_ms: Date.now() }));
    assert.equal((await hermes(world, ['gateway', 'stop'])).out, `The gateway of ${world.home} has ended.\n`);
    await until(() => first.child.exitCode === 0, 'it to leave');
    await until(() => /"why":"stop".*"asked_by":"the command line, process \d+"/.test(first.output()), 'it to have said who asked for that');
    assert.deepEqual(JSON.parse((await hermes(world, ['gateway', 'list', '--json'])).out), [{ home: world.home, state: 'stopped', pid: null }]);
  });

  test('starts anew on SIGUSR1, on which Node would open its debugger to the whole machine', { skip: process.platform === 'win32' && 'no signals' }, async () => {
    await using base = await newWorld();
    const world = inState(base);
    await using gateway = await startOutside(world);
    gateway.child.kill('SIGUSR1');
    await until(() => /"why":"restart".*"asked_by":"the signal SIGUSR1"/.test(gateway.output()), 'it to say why it ends');
    await until(() => gateway.output().match(/"gateway\.started"/g)?.length === 2, 'it to run again');
    await world.say('still there?');
    await answered(world, 'still there?');
    assert.ok(!gateway.output().includes('Debugger'), gateway.output());
    assert.equal((await hermes(world, ['gateway', 'stop'])).code, 0);
  });

  test('run --replace ends the one before it and goes on where that was', async () => {
    await using base = await newWorld();
    const world = inState(base);
    await using first = await startOutside(world);
    await world.say('one');
    await answered(world, 'one');
    await using second = await startOutside(world, {}, ['--replace']);
    await until(() => first.child.exitCode === 0, 'the first to have ended');
    await world.say('two');
    await answered(world, 'two');
    assert.deepEqual(world.shown(), ['re: one', 're: two']);
    assert.equal(await second.stop(), 0);
  });

  test('does not receive with a credential that a gateway in another home uses, and takes over when that one dies', async () => {
    await using base = await newWorld();
    const world = inState(base);
    await using first = await startOutside(world);
    await until(() => first.output().includes('"account":"telegram"') && first.output().includes('account.connected'), 'the first to connect');
    const other: World = { ...world, home: join(world.home, 'other'), env: { ...world.env, HERMES_HOME: join(world.home, 'other') } };
    await mkdir(other.home, { mode: 0o700 });
    await writeFile(join(other.home, 'config.yaml'), await readFile(join(world.home, 'config.yaml'), 'utf8'));
    await using second = await startOutside(other);
    await until(() => second.output().includes('uses the same credential'), 'the second to say so');
    assert.match((await hermes(other, ['status'])).out, new RegExp(`telegram +conflict .*the gateway of ${world.home} \\(process \\d+\\) uses the same credential.*; tried again in \\d+ s[^]*What to do\\ntelegram  Another program uses this credential`));
    const diagnosis = await hermes(other, ['doctor', '--offline']);
    assert.equal(diagnosis.code, 1);
    assert.match(diagnosis.out, /telegram does not receive: conflict, the gateway of/);
    await first.kill();
    await hermes(other, ['gateway', 'restart']);
    await world.say('anybody?');
    await answered(world, 'anybody?');
    await second.stop();
  });
});

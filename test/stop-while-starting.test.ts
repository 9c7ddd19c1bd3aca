import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { processStart } from '../src/agent/tools/terminal/process-start.ts';
import { Exit } from '../src/cli/environment.ts';
import { dumpGateway } from '../src/cli/gateway/dump.ts';
import { notedStart } from '../src/cli/gateway/start-note.ts';
import { consoleFile, launcher, startDetached } from '../src/cli/gateway/start.ts';
import { restartGateway, stopGateway } from '../src/cli/gateway/stop.ts';
import { isHomeTaken } from '../src/store/locks/home-lock.ts';
import { newWorld, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

test('who stops a gateway that was started a moment ago, and has not loaded its modules yet, ends that one', async () => {
  await using world = await newWorld();
  const [hold, go] = [join(world.home, 'hold.mjs'), join(world.home, 'go')];
  await writeFile(hold, `import { existsSync } from 'node:fs';\nwhile (!existsSync(${JSON.stringify(go)})) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);\n`);
  const quiet = (): void => undefined;
  const env = { ...process.env, ...world.env, XDG_STATE_HOME: join(world.home, 'state'), NODE_OPTIONS: `--import=${hold}` };
  const starting = startDetached({ env, version: 'test', write: quiet, writeError: quiet }, world.home).catch((error: unknown) => assert.ok(error instanceof Exit, String(error)));
  await until(() => existsSync(consoleFile(world.home)), 'it to be started');
  const stopped = stopGateway(world.home, { drainMs: 5000, force: true });
  await writeFile(go, '');
  try {
    assert.equal(await stopped, 'stopped');
  } finally {
    await starting;
    await stopGateway(world.home, { drainMs: 5000, force: true });
  }
  assert.equal(isHomeTaken(world.home), false);
});

const writtenNumber = (path: string): number => (existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0);

const untilGone = (pid: number): Promise<void> => until(async () => (await processStart(pid)) === undefined, `process ${pid} to be gone`);

/** Lets a gateway wait for a secret until somebody makes the file. */
const letWait = (world: World, go: string): Promise<void> => world.configure({ model: { provider: 'openai', default: 'sim-1', base_url: world.model.baseUrl, api_key_cmd: `echo $$ > '${go}.pid'; while [ ! -e '${go}' ]; do sleep 0.05; done; echo sk-simulated-model-key` } });

/** A gateway that has its home and waits for a secret. */
const startWaiting = async (world: World, go: string): Promise<ChildProcess> => {
  await letWait(world, go);
  const child = spawn(process.execPath, [launcher, 'gateway', 'run'], { env: { ...process.env, ...world.env, XDG_STATE_HOME: join(world.home, 'state') }, stdio: 'ignore' });
  await until(() => notedStart(world.home)?.pid === child.pid, 'it to have the home');
  await until(() => writtenNumber(`${go}.pid`) > 0, 'the command to run');
  return child;
};

const noWindows = { skip: process.platform === 'win32' && 'there are no such signals' };

test('a gateway that still waits for a secret survives a dump, and one that is to start anew comes back', noWindows, async () => {
  await using world = await newWorld();
  const go = join(world.home, 'go');
  const child = await startWaiting(world, go);
  const exited = once(child, 'exit');
  try {
    assert.equal((await dumpGateway(world.home, { http: undefined })).type, 'report');
    const again = restartGateway(world.home, { drainMs: 5000, startMs: 60_000 });
    const command = writtenNumber(`${go}.pid`);
    await until(() => writtenNumber(`${go}.pid`) !== command, 'it to begin anew');
    await untilGone(command);
    await writeFile(go, '');
    assert.equal(await again, child.pid);
    // As if the clock had been set back since.
    await utimes(join(world.home, 'gateway.pid'), 4e9, 4e9);
    assert.equal(await restartGateway(world.home, { drainMs: 5000, startMs: 20_000 }), child.pid);
    assert.equal(await stopGateway(world.home, { drainMs: 5000, force: true }), 'stopped');
    await exited;
  } finally {
    child.kill('SIGKILL');
  }
  assert.equal(child.exitCode, 0);
});

test('a gateway that is told to end while it waits for a secret does so at once, says why, and leaves with 0', noWindows, async () => {
  await using world = await newWorld();
  const never = join(world.home, 'never');
  const child = await startWaiting(world, never);
  const exited = once(child, 'exit');
  try {
    assert.equal(await stopGateway(world.home, { drainMs: 5000, force: false }), 'stopped');
    await exited;
    await untilGone(writtenNumber(`${never}.pid`));
  } finally {
    child.kill('SIGKILL');
  }
  assert.equal(child.exitCode, 0);
  assert.match(await readFile(join(world.home, 'logs', 'gateway.log'), 'utf8'), /"why":"stop","asked_by":"the command line, process \d+".*"gateway\.stopping"/);
});

test('who starts a gateway that somebody else ends before it runs is told, and has failed', noWindows, async () => {
  await using world = await newWorld();
  await letWait(world, join(world.home, 'never'));
  const env = { ...process.env, ...world.env, XDG_STATE_HOME: join(world.home, 'state') };
  let told = '';
  const starting = startDetached({ env, version: 'test', write: () => undefined, writeError: (text) => (told += text) }, world.home);
  const failed = assert.rejects(starting, (error: unknown) => error instanceof Exit && error.code === 1);
  await until(() => notedStart(world.home) !== undefined, 'it to have the home');
  assert.equal(await stopGateway(world.home, { drainMs: 5000, force: false }), 'stopped');
  await failed;
  assert.match(told, /gateway\.stopping why=stop[\s\S]*The gateway did not start\.\n$/);
});

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../lib/clock.ts';
import { killGroup } from '../../../lib/kill-group.ts';
import { silentLogger } from '../../../lib/logger.ts';
import { keepProcess, processesOf } from '../../../store/agents/processes.ts';
import { ToolError } from '../contract.ts';
import { processStart } from './process-start.ts';
import { Processes } from './processes.ts';
import type { ProcessNotice } from './processes.ts';
import { go, newBench, patient, until } from './terminal.test-support.ts';
import type { Bench } from './terminal.test-support.ts';

/** As the gateway that is started next would see it. */
const restarted = async (bench: Bench): Promise<{ readonly next: Processes; readonly notices: readonly ProcessNotice[] }> => {
  const notices: ProcessNotice[] = [];
  const next = new Processes({ store: bench.store, clock: systemClock, log: silentLogger, folder: join(bench.folder, 'processes'), owner: 'here', redact: (text) => text, notify: async (notice) => void notices.push(notice) });
  await next.start();
  await next.adopt();
  bench.cleanup(() => next.stop());
  return { next, notices };
};

test('what still runs after a restart is found again, and its end is told once', async (t) => {
  const bench = await newBench(t);
  const { session_id } = await bench.run({ command: `echo before; ${patient}echo after; exit 4`, background: true, notify_on_complete: true });
  await bench.processes.stop();
  const { next, notices } = await restarted(bench);
  assert.equal(next.find('s1', session_id).end, undefined);
  assert.equal(notices.length, 0);
  await go(bench);
  await until(() => notices.length > 0);
  assert.match(notices[0]?.text ?? '', /ended: exit code 4\.\][\s\S]*before\nafter/);
  assert.equal(notices[0]?.key, `process:${session_id}:end`);
  await until(async () => (await bench.store.read((db) => processesOf(db, 'here')))[0]?.notify === false);
  await next.stop();
  const third = await restarted(bench);
  await third.next.stop();
  assert.deepEqual([notices.length, third.notices.length], [1, 0]);
  assert.deepEqual(bench.notices, []);
});

test('what ended while the gateway was away is told as that, with its exit code', async (t) => {
  const bench = await newBench(t);
  const { session_id, pid } = await bench.run({ command: `${patient}echo late; exit 6`, background: true, notify_on_complete: true });
  await bench.processes.stop();
  await go(bench);
  await until(async () => (await processStart(Number(pid))) === undefined);
  const { next, notices } = await restarted(bench);
  await until(() => notices.length > 0);
  assert.match(notices[0]?.text ?? '', /ended while the gateway was away: exit code 6\.\][\s\S]*late/);
  assert.equal(next.find('s1', session_id).end?.exitCode, 6);
});

test('a process that was killed with the gateway has ended without a code', async (t) => {
  const bench = await newBench(t);
  const { pid } = await bench.run({ command: patient, background: true, notify_on_complete: true });
  await bench.processes.stop();
  killGroup(Number(pid));
  await until(async () => (await processStart(Number(pid))) === undefined);
  const { notices } = await restarted(bench);
  await until(() => notices.length > 0);
  assert.match(notices[0]?.text ?? '', /while the gateway was away: its exit code is not known/);
});

test('a process is known by its start and not by its number alone', async (t) => {
  const bench = await newBench(t);
  await bench.store.write(async (tx) => {
    await keepProcess(tx, { id: 'proc_1', owner: 'here', sessionId: 's1', command: 'other', cwd: '/', notify: true, watch: null });
    await tx.q.updateTable('processes').set({ state: 'running', pid: process.pid, started: 'another boot:1' }).where('id', '=', 'proc_1').execute();
  });
  const { notices } = await restarted(bench);
  await until(() => notices.length > 0);
  assert.match(notices[0]?.text ?? '', /proc_1 \(`other`\) ended while the gateway was away/);
});

test('a process whose start nobody saw is said to be lost', async (t) => {
  const bench = await newBench(t);
  await bench.store.write((tx) => keepProcess(tx, { id: 'proc_2', owner: 'here', sessionId: 's1', command: 'make', cwd: '/', notify: true, watch: null }));
  await bench.store.write((tx) => keepProcess(tx, { id: 'proc_3', owner: 'elsewhere', sessionId: 's1', command: 'make', cwd: '/', notify: true, watch: null }));
  const { notices } = await restarted(bench);
  await until(() => notices.length > 0);
  assert.deepEqual(notices.map((notice) => notice.text), ['[IMPORTANT: The gateway ended in the very moment in which it started the background process proc_2 (`make`). Nobody knows whether it runs.]']);
});

test('a process of a restarted gateway can be ended, but not written to', async (t) => {
  const bench = await newBench(t);
  const { session_id, pid } = await bench.run({ command: `echo up; ${patient}`, background: true });
  // Before it runs nobody keeps its exit code.
  await until(async () => (await bench.ask({ action: 'log', session_id })).output === 'up');
  await bench.processes.stop();
  await bench.processes.start();
  await bench.processes.adopt();
  await assert.rejects(bench.ask({ action: 'submit', session_id, data: 'x' }), (error: unknown) => error instanceof ToolError && /input went away/.test(error.message));
  const killed = await bench.ask({ action: 'kill', session_id });
  assert.deepEqual([killed['status'], killed.exit_code], ['exited', 143]);
  await until(async () => (await processStart(Number(pid))) === undefined);
});

test('files that belong to no known process are removed at the start, and others are left alone', async (t) => {
  const bench = await newBench(t);
  const { session_id } = await bench.run({ command: patient, background: true });
  await bench.processes.stop();
  const folder = join(bench.folder, 'processes');
  for (const name of ['proc_000000000000.log', 'proc_000000000000.exit', 'notes.txt']) await writeFile(join(folder, name), '');
  await bench.processes.start();
  await bench.processes.adopt();
  assert.deepEqual((await readdir(folder)).toSorted(), ['notes.txt', `${session_id}.log`]);
});

test('a process outlives a gateway that is killed, and goes on writing', async (t) => {
  const bench = await newBench(t);
  await bench.processes.stop();
  const script = `
    import { Processes } from ${JSON.stringify(new URL('./processes.ts', import.meta.url).href)};
    import { openStore } from ${JSON.stringify(new URL('../../../store/open.ts', import.meta.url).href)};
    import { systemClock } from ${JSON.stringify(new URL('../../../lib/clock.ts', import.meta.url).href)};
    import { silentLogger } from ${JSON.stringify(new URL('../../../lib/logger.ts', import.meta.url).href)};
    const [folder] = process.argv.slice(1);
    const store = await openStore({ path: folder + '/other.db', clock: systemClock, log: silentLogger, checkIntegrity: false });
    const processes = new Processes({ store, clock: systemClock, log: silentLogger, folder: folder + '/processes', owner: 'here', redact: (text) => text, notify: async () => undefined });
    await processes.start();
    await processes.adopt();
    const begun = await processes.begin({ sessionId: 's1', command: 'x', cwd: folder, launch: { argv: ['/bin/sh', '-c', 'echo one; ${patient}echo two'], cwd: folder, env: { PATH: '/usr/bin:/bin' } }, notify: true, watch: [] });
    process.stdout.write(JSON.stringify({ id: begun.id, pid: begun.pid }) + '\\n');`;
  const gateway = spawn(process.execPath, ['--input-type=module', '-e', script, bench.folder], { stdio: ['ignore', 'pipe', 'inherit'], cwd: fileURLToPath(new URL('.', import.meta.url)) });
  const said = await new Promise<string>((resolve) => gateway.stdout.once('data', (data: Buffer) => resolve(data.toString())));
  const { id, pid } = JSON.parse(said) as { id: string; pid: number };
  const gone = new Promise((resolve) => gateway.once('exit', resolve));
  gateway.kill('SIGKILL');
  await gone;
  assert.notEqual(await processStart(pid), undefined);
  await go(bench);
  await until(async () => (await readFile(join(bench.folder, 'processes', `${id}.log`), 'utf8')) === 'one\ntwo\n');
  await until(async () => (await readFile(join(bench.folder, 'processes', `${id}.exit`), 'utf8').catch(() => '')) === '0');
});

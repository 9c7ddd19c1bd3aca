import assert from 'node:assert/strict';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { manualClock, systemClock } from '../../../lib/clock.ts';
import type { Clock } from '../../../lib/clock.ts';
import { processesOf } from '../../../store/agents/processes.ts';
import { ToolError } from '../contract.ts';
import { processStart } from './process-start.ts';
import { approvalSettings, fakeContext, go, newBench, patient, until } from './terminal.test-support.ts';

const refusal = (pattern: RegExp) => (error: unknown): boolean => error instanceof ToolError && pattern.test(error.message);

/** Looks are close together. */
const quick: Clock = { now: () => Date.now(), sleep: (_ms, signal) => systemClock.sleep(5, signal) };

test('a background process is started at once, looked at, and waited for', async (t) => {
  const bench = await newBench(t);
  const started = await bench.run({ command: `echo first; ${patient}echo second >&2; exit 3`, background: true });
  assert.match(started.session_id, /^proc_[0-9a-f]{12}$/);
  assert.equal(started.exit_code, 0);
  assert.match(String(started['hint']), /will not be told.*poll/);
  const { session_id } = started;
  await until(async () => (await bench.ask({ action: 'log', session_id })).output === 'first');
  assert.deepEqual(await bench.ask({ action: 'poll', session_id }).then(({ status, output }) => [status, output]), ['running', 'first\n']);
  assert.equal((await bench.ask({ action: 'poll', session_id })).output, '');
  const waiting = bench.ask({ action: 'wait', session_id });
  await go(bench);
  assert.deepEqual(await waiting.then(({ status, output, exit_code }) => [status, output, exit_code]), ['exited', 'second\n', 3]);
  assert.deepEqual(bench.notices, []);
});

test('a process that could not be written down does not run on unseen', async (t) => {
  const bench = await newBench(t);
  await bench.store.write((tx) => sql`create trigger no_more before update on processes begin select raise(abort, 'not process ' || new.pid); end`.execute(tx.q));
  const failure: unknown = await bench.run({ command: 'sleep 1000', background: true }).catch((error: unknown) => error);
  const pid = Number(/not process (\d+)/.exec(String(failure))?.[1]);
  assert.ok(pid > 1, String(failure));
  await until(async () => (await processStart(pid)) === undefined);
});

test('waiting ends with its time, with the turn, and at once for what has ended', async (t) => {
  const bench = await newBench(t);
  const { session_id } = await bench.run({ command: patient, background: true });
  const waited = await bench.ask({ action: 'wait', session_id, timeout: 0.02 });
  assert.deepEqual([waited['status'], waited['note']], ['running', 'It still runs after 0.02 seconds of waiting.']);
  const abort = new AbortController();
  const aborted = bench.ask({ action: 'wait', session_id }, fakeContext(), abort.signal);
  abort.abort(new Error('over'));
  await assert.rejects(aborted, /over/);
  await go(bench);
  await bench.ask({ action: 'wait', session_id });
  assert.equal((await bench.ask({ action: 'wait', session_id }))['status'], 'exited');
});

test('a promise to tell of the end is kept once, with the end of the output', async (t) => {
  const bench = await newBench(t);
  const { session_id, notify_on_complete } = await bench.run({ command: `echo key=gateway-secret-1; ${patient}echo all done; exit 2`, background: true, notify_on_complete: true });
  assert.equal(notify_on_complete, true);
  await go(bench);
  await until(() => bench.notices.length > 0);
  const [notice] = bench.notices;
  assert.deepEqual([notice?.sessionId, notice?.key], ['s1', `process:${session_id}:end`]);
  assert.match(notice?.text ?? '', /^\[IMPORTANT: The background process proc_\w+ \(`echo .*`\) ended: exit code 2\.\]\n[\s\S]*untrusted[\s\S]*all done/);
  assert.ok(!notice?.text.includes('gateway-secret-1'));
  await until(async () => (await bench.store.read((db) => processesOf(db, 'here')))[0]?.notify === false);
  assert.equal(bench.notices.length, 1);
});

test('what the model has seen itself is not told, and a notice that it has not taken up is taken back', async (t) => {
  const bench = await newBench(t);
  const { session_id } = await bench.run({ command: `${patient}echo x`, background: true, notify_on_complete: true });
  const waiting = bench.ask({ action: 'wait', session_id });
  await go(bench);
  assert.equal((await waiting)['status'], 'exited');
  await bench.processes.find('s1', session_id).ended;
  assert.deepEqual([bench.notices, bench.withdrawn], [[], []]);
  const other = await bench.run({ command: 'true', background: true, notify_on_complete: true });
  await until(() => bench.processes.find('s1', other.session_id).told);
  for (const action of ['poll', 'log', 'wait']) await bench.ask({ action, session_id: other.session_id });
  assert.deepEqual([bench.notices.length, bench.withdrawn], [1, [`process:${other.session_id}:end`]]);
});

test('whoever waits is not told as well, unless the waiting came to nothing', async (t) => {
  const bench = await newBench(t, { processes: { clock: quick } });
  const { session_id } = await bench.run({ command: patient, background: true, notify_on_complete: true });
  const known = bench.processes.find('s1', session_id);
  const waiting = known.awaitEnd();
  await go(bench);
  await waiting.done;
  await known.ended;
  assert.deepEqual(bench.notices, []);
  waiting[Symbol.dispose]();
  await until(() => bench.notices.length === 1);
});

test('where nothing can be said later, nothing is promised, and the model is told to look itself', async (t) => {
  const bench = await newBench(t);
  const context = fakeContext({ asyncDelivery: false });
  for (const wish of [{ notify_on_complete: true }, { watch_patterns: ['x'] }]) {
    const started = await bench.run({ command: 'echo x', background: true, ...wish }, context);
    assert.match(String(started['notify_unsupported']), /process\(action="poll", session_id="proc_/);
    assert.deepEqual([started['notify_on_complete'], started['watch_patterns'], started['hint']], [undefined, undefined, undefined]);
    await bench.processes.find('s1', started.session_id).ended;
  }
  assert.deepEqual(bench.notices, []);
});

test('a watch gives way to the word about the end when both are wanted', async (t) => {
  const bench = await newBench(t);
  const started = await bench.run({ command: 'echo x', background: true, notify_on_complete: true, watch_patterns: ['x'] });
  assert.match(String(started['note']), /watch_patterns was left out/);
  await until(() => bench.notices.length > 0);
  assert.deepEqual(bench.notices.map((notice) => notice.key), [`process:${started.session_id}:end`]);
});

test('a line that is watched for is told while the process runs, whole lines only', async (t) => {
  let looks = 0;
  const clock: Clock = { ...quick, sleep: (ms, signal) => ((looks += 1), quick.sleep(ms, signal)) };
  const bench = await newBench(t, { processes: { clock } });
  const { session_id } = await bench.run({ command: `printf 'server REA'; ${patient}printf 'DY on 80 for gateway-secret-1\\nn%s\\n' oise; while [ ! -e end ]; do sleep 0.01; done; echo READY again`, background: true, watch_patterns: ['READY', 'ERROR'] });
  await until(async () => (await bench.ask({ action: 'log', session_id })).output === 'server REA');
  const before = looks;
  await until(() => looks > before + 3);
  await go(bench);
  await until(() => bench.notices.length > 0);
  assert.equal(bench.notices[0]?.key, `process:${session_id}:watch:1`);
  assert.match(bench.notices[0]?.text ?? '', /wrote what you are watching for[\s\S]*server READY on 80/);
  assert.ok(!bench.notices[0]?.text.includes('noise') && !bench.notices[0]?.text.includes('gateway-secret-1'));
  await writeFile(join(bench.folder, 'end'), '');
  await bench.ask({ action: 'wait', session_id });
  // The second is too soon after the first, and the end was not asked for.
  assert.equal(bench.notices.length, 1);
});

test('text can be written to a process, sent with Enter, and brought to an end', async (t) => {
  const bench = await newBench(t);
  const { session_id } = await bench.run({ command: 'while read -r line; do echo "got $line"; done; echo end', background: true });
  await bench.ask({ action: 'write', session_id, data: 'a' });
  await bench.ask({ action: 'submit', session_id, data: 'b' });
  await until(async () => (await bench.ask({ action: 'log', session_id })).output === 'got ab');
  await bench.ask({ action: 'close', session_id });
  assert.equal((await bench.ask({ action: 'wait', session_id })).exit_code, 0);
  assert.equal((await bench.ask({ action: 'log', session_id })).output, 'got ab\nend');
  await assert.rejects(bench.ask({ action: 'submit', session_id, data: 'x' }), refusal(/has ended/));
  await assert.rejects(bench.ask({ action: 'write', session_id }), refusal(/data is missing/));
});

test('a process is ended with all that it has started, and its end is not told', async (t) => {
  const bench = await newBench(t, { settings: approvalSettings({ mode: 'off' }) });
  const { session_id, pid } = await bench.run({ command: 'sleep 300 & echo $! > child; wait', background: true, notify_on_complete: true });
  const child = async (): Promise<number> => Number(await readFile(join(bench.folder, 'child'), 'utf8').catch(() => '0'));
  await until(async () => (await child()) > 0);
  const killed = await bench.ask({ action: 'kill', session_id });
  assert.deepEqual([killed['status'], killed.exit_code], ['exited', 143]);
  await until(async () => (await processStart(Number(pid))) === undefined && (await processStart(await child())) === undefined);
  assert.deepEqual(bench.notices, []);
  assert.equal((await bench.ask({ action: 'kill', session_id }))['note'], 'It had ended already.');
});

test('a conversation sees its own processes only, by id or the beginning of it', async (t) => {
  const bench = await newBench(t);
  const first = await bench.run({ command: patient, background: true });
  const second = await bench.run({ command: 'echo secret gateway-secret-1', background: true });
  const other = fakeContext({ sessionId: 's2' });
  assert.deepEqual((await bench.ask({ action: 'list' }, other))['processes'], []);
  await assert.rejects(bench.ask({ action: 'poll', session_id: first.session_id }, other), refusal(/no background process/));
  await assert.rejects(bench.ask({ action: 'poll', session_id: 'proc_' }), refusal(/several ids/));
  await assert.rejects(bench.ask({ action: 'poll' }), refusal(/session_id is missing/));
  assert.equal((await bench.ask({ action: 'poll', session_id: first.session_id.slice(0, 14) })).session_id, first.session_id);
  await bench.ask({ action: 'wait', session_id: second.session_id });
  const listed = (await bench.ask({ action: 'list' }))['processes'] as readonly Record<string, unknown>[];
  assert.deepEqual(listed.map((each) => [each['session_id'], each['status'], each['command']]), [[first.session_id, 'running', patient], [second.session_id, 'exited', 'echo secret ***']]);
  assert.deepEqual([bench.processes.hasLive('s1'), bench.processes.hasLive('s2')], [true, false]);
  assert.equal(await bench.processes.killOf('s1'), 1);
  assert.equal(bench.processes.hasLive('s1'), false);
});

test('lines of the output are shown from any place, the last ones by themselves', async (t) => {
  const bench = await newBench(t);
  const { session_id } = await bench.run({ command: 'i=0; while [ $i -lt 300 ]; do echo line $i; i=$((i+1)); done', background: true });
  await bench.ask({ action: 'wait', session_id });
  const last = await bench.ask({ action: 'log', session_id });
  assert.deepEqual([last['first_line'], last['total_lines'], last.output.split('\n').length, last.output.split('\n')[0]], [100, 300, 200, 'line 100']);
  assert.equal((await bench.ask({ action: 'log', session_id, offset: 5, limit: 2 })).output, 'line 5\nline 6');
});

test('a process that cannot be started is said so and forgotten', async (t) => {
  const bench = await newBench(t);
  await assert.rejects(bench.processes.begin({ sessionId: 's1', command: 'x', cwd: '/', launch: { argv: ['true'], cwd: join(bench.folder, 'none'), env: {} }, notify: true, watch: [] }), refusal(/could not be started/));
  assert.deepEqual(await bench.store.read((db) => processesOf(db, 'here')), []);
});

test('a notice that could not be given is given later', async (t) => {
  const given: string[] = [];
  let failures = 2;
  const bench = await newBench(t, {
    processes: {
      async notify(notice) {
        if ((failures -= 1) >= 0) throw new Error('the store is away');
        given.push(notice.key);
      },
      clock: quick,
    },
  });
  const { session_id } = await bench.run({ command: 'true', background: true, notify_on_complete: true });
  await until(() => given.length > 0);
  assert.deepEqual(given, [`process:${session_id}:end`]);
});

test('what has ended is forgotten after half an hour, with its files', async (t) => {
  const clock = manualClock();
  const bench = await newBench(t, { clock });
  await bench.run({ command: 'echo x', background: true });
  await until(() => bench.processes.of('s1')[0]?.end !== undefined);
  await clock.advance(29 * 60_000);
  assert.equal(bench.processes.of('s1').length, 1);
  await until(async () => {
    await clock.advance(60_000);
    return bench.processes.of('s1').length === 0 && (await bench.store.read((db) => processesOf(db, 'here'))).length === 0;
  });
  assert.deepEqual(await readdir(join(bench.folder, 'processes')), []);
});

test('no more than 64 run at a time', async (t) => {
  const bench = await newBench(t);
  await Promise.all(Array.from({ length: 64 }, () => bench.run({ command: 'read -r x', background: true })));
  await assert.rejects(bench.run({ command: 'true', background: true }), refusal(/64 background processes are running already/));
  const [first] = bench.processes.of('s1');
  await bench.ask({ action: 'kill', session_id: first?.id });
  await assert.doesNotReject(bench.run({ command: 'read -r x', background: true }));
});

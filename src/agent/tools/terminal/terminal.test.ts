import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { endProcess } from '../../../../test/support/end-process.ts';
import { manualClock, systemClock } from '../../../lib/clock.ts';
import type { ManualClock } from '../../../lib/clock.ts';
import { ToolError } from '../contract.ts';
import { processStart } from './process-start.ts';
import { approvalSettings, fakeContext, newBench, until } from './terminal.test-support.ts';

const refusal = (pattern: RegExp, code: ToolError['code']) => (error: unknown): boolean => error instanceof ToolError && error.code === code && pattern.test(error.message);

/** What a script has written down, as soon as it has. */
const pidIn = async (folder: string): Promise<number> => Number(await readFile(join(folder, 'pid'), 'utf8').catch(() => '0'));

/** Lets time pass until the work is done. */
const settled = async <T>(work: Promise<T>, clock: ManualClock): Promise<T> => {
  let over = false;
  const ended = work.finally(() => {
    over = true;
  });
  await until(async () => {
    if (!over) await clock.advance(500);
    return over;
  });
  return ended;
};

test('a command answers with both of its outputs in order and its exit code', async (t) => {
  const { run } = await newBench(t);
  assert.deepEqual(await run({ command: 'echo one; echo two >&2; echo three; exit 3' }), { output: 'one\ntwo\nthree\n', exit_code: 3 });
  assert.deepEqual(await run({ command: 'printf no-newline' }), { output: 'no-newline', exit_code: 0 });
  assert.deepEqual(await run({ command: 'true' }), { output: '', exit_code: 0 });
});

test('the folder is kept from call to call in one conversation, and nothing else', async (t) => {
  const { run, folder } = await newBench(t);
  const other = fakeContext({ sessionId: 's2' });
  assert.equal((await run({ command: 'mkdir -p a/b && cd a/b && X=1' })).cwd, join(folder, 'a/b'));
  assert.equal((await run({ command: 'pwd; echo "[$X]"' })).output, `${join(folder, 'a/b')}\n[]\n`);
  assert.equal((await run({ command: 'pwd' }, other)).output, `${folder}\n`);
  assert.equal((await run({ command: 'cd .. && exit 4' })).exit_code, 4);
  assert.equal((await run({ command: 'pwd' })).output, `${join(folder, 'a')}\n`);
});

test('a folder that is gone sends the conversation back to where it began', async (t) => {
  const { run, folder } = await newBench(t);
  await run({ command: 'mkdir gone; cd gone' });
  await run({ command: `rmdir ${join(folder, 'gone')}`, workdir: folder });
  await run({ command: 'mkdir x && cd x && rmdir ../x' });
  assert.equal((await run({ command: 'pwd' })).output, `${folder}\n`);
});

test('a working folder has to be an absolute path of a folder', async (t) => {
  const { run, folder } = await newBench(t);
  await writeFile(join(folder, 'file'), '');
  assert.equal((await run({ command: 'pwd', workdir: '~' })).output, `${folder}\n`);
  for (const [workdir, why] of [['relative', /absolute path/], [join(folder, 'none'), /does not exist/], [join(folder, 'file'), /no folder/], ['/tmp\nx', /control characters/]] as const) {
    await assert.rejects(run({ command: 'pwd', workdir }), refusal(why, 'bad_arguments'));
  }
});

test('colours, movements, controls and overwritten lines are gone from the output', async (t) => {
  const { run } = await newBench(t);
  const { output } = await run({ command: String.raw`printf '\033[31mred\033[0m\n10%%\r50%%\r100%%\n\033]0;title\007x\bY\0Z\n\033Psecret\033\\end\n\xff\xfe\n'` });
  assert.equal(output, 'red\n100%\nxYZ\nend\n\ufffd\ufffd\n');
});

test('of megabytes the beginning and the end are shown, two parts to three', async (t) => {
  const { run } = await newBench(t);
  const { output, exit_code } = await run({ command: 'echo BEGIN; head -c 3000000 /dev/zero | tr "\\0" x; echo; echo END' });
  assert.equal(exit_code, 0);
  assert.ok(output.startsWith('BEGIN\nxxx') && output.endsWith('xxx\nEND\n') && output.length < 46_000, String(output.length));
  const at = output.indexOf('[…');
  assert.ok(Math.abs(at / output.length - 0.4) < 0.02);
  assert.match(output, /\[… about 29\d{5} characters of output left out …\]/);
});

test('the folder is found behind any amount of output', async (t) => {
  const { run, folder } = await newBench(t);
  await run({ command: 'mkdir d; cd d; head -c 3000000 /dev/zero | tr "\\0" x' });
  assert.equal((await run({ command: 'pwd' })).output, `${join(folder, 'd')}\n`);
});

test('secrets are out of the output, also where it is cut', async (t) => {
  const { run } = await newBench(t);
  assert.equal((await run({ command: 'echo key=gateway-secret-1' })).output, 'key=***\n');
  const { output } = await run({ command: 'i=0; while [ $i -lt 4000 ]; do echo "gateway-secret-1 $i"; i=$((i+1)); done' });
  assert.ok(!output.includes('gateway') && !output.includes('secret-1'));
});

test('a command knows its path and language and what the owner lets through, and no secret of the gateway', async (t) => {
  const { run } = await newBench(t, { env: { OPENAI_API_KEY: 'k', TELEGRAM_BOT_TOKEN: 't', PASSED: 'yes', NODE_OPTIONS: '--x' } });
  const names = (await run({ command: 'env' })).output.split('\n').map((line) => line.split('=')[0] ?? '');
  assert.deepEqual(names.filter((name) => !['', '_', 'PWD', 'SHLVL', 'OLDPWD'].includes(name)).toSorted(), ['HOME', 'LANG', 'PASSED', 'PATH']);
});

test('a command whose time is up is ended with all that it has started, and answers 124', async (t) => {
  const { run, folder } = await newBench(t);
  await writeFile(join(folder, 'stray.sh'), 'sleep 300 &\necho $! > pid\necho before\nwait\n');
  const clock = manualClock();
  const running = run({ command: 'sh stray.sh', timeout: 5 }, fakeContext({ clock }));
  const pid = (): Promise<number> => pidIn(folder);
  await until(async () => (await pid()) > 0 && clock.waiting() > 0);
  const result = await settled(running, clock);
  assert.equal(result.exit_code, 124);
  assert.match(result.output, /^before\n/);
  assert.match(String(result['error']), /ended after 5 seconds/);
  assert.equal(result['exit_code_meaning'], 'it took too long and was ended');
  await until(async () => (await processStart(await pid())) === undefined);
});

test('an abort ends the command and everything below it, even what does not want to', async (t) => {
  const { run, folder } = await newBench(t);
  await writeFile(join(folder, 'stubborn.sh'), "trap '' TERM INT HUP\n(trap '' TERM; while :; do sleep 1; done) &\necho $! > pid\nwhile :; do sleep 1; done\n");
  const abort = new AbortController();
  const clock = manualClock();
  const running = run({ command: 'sh stubborn.sh' }, fakeContext({ clock }), abort.signal);
  const pid = (): Promise<number> => pidIn(folder);
  await until(async () => (await pid()) > 0);
  abort.abort();
  const result = await settled(running, clock);
  assert.equal(result.exit_code, 130);
  assert.equal(result['error'], 'It was interrupted.');
  await until(async () => (await processStart(await pid())) === undefined);
});

test('a command that leaves something running does not keep the turn waiting', async (t) => {
  const { run, folder } = await newBench(t);
  await writeFile(join(folder, 'daemon.sh'), 'sleep 20 &\necho $! > pid\necho started\n');
  const result = await run({ command: 'sh daemon.sh' });
  assert.deepEqual([result.output, result.exit_code], ['started\n', 0]);
  endProcess(Number(await readFile(join(folder, 'pid'), 'utf8')));
});

test('signals, missing programs and codes that are no failure are explained', async (t) => {
  const { run, folder } = await newBench(t);
  await writeFile(join(folder, 'crash.sh'), 'kill -SEGV $$\n');
  const crashed = await run({ command: 'sh crash.sh' });
  assert.deepEqual([crashed.exit_code, crashed['exit_code_meaning']], [139, 'it crashed (segmentation fault)']);
  const missing = await run({ command: 'no-such-program-1' });
  assert.deepEqual([missing.exit_code, missing['exit_code_meaning']], [127, 'no such command']);
  assert.equal((await run({ command: 'echo a | grep b' }))['exit_code_meaning'], 'no line matched (not an error)');
  assert.equal((await run({ command: 'timeout 5 diff /etc/passwd /dev/null > /dev/null' }))['exit_code_meaning'], 'the files differ (not an error)');
});

test('what does not end by itself is refused in the foreground, by what it runs and not by its text', async (t) => {
  const { run } = await newBench(t);
  for (const command of ['npm run dev', 'vite', 'python3 -m http.server', 'tail -f log', 'sleep 5 &', '(sleep 5 &)', "sh -c 'sleep 5 &'", 'nohup sleep 5', 'setsid sleep 5', 'docker compose up', 'watch ls', 'sudo -u x tail -F y', 'vim x', 'flask run', 'sleep infinity', 'cd x && npm start']) {
    await assert.rejects(run({ command }), refusal(/^Not run\. .*background=true/s, 'bad_arguments'), command);
  }
  for (const command of ['echo "npm run dev &"', "echo 'nohup x'", 'echo a \\& b', 'npm run dev --help', 'true # sleep 5 &', 'vite --version || true', 'timeout 0.01 tail -f /dev/null || true', 'yes | head -1']) await assert.doesNotReject(run({ command }), command);
});

test('a time beyond the maximum is refused with advice', async (t) => {
  const { run } = await newBench(t);
  await assert.rejects(run({ command: 'true', timeout: 601 }), refusal(/at most 600 seconds.*background=true/s, 'bad_arguments'));
  await assert.rejects(run({ command: ' ' }), refusal(/empty/, 'bad_arguments'));
  await assert.rejects(run({ command: 'a\0b' }), refusal(/NUL/, 'bad_arguments'));
  await assert.rejects(run({ command: 'x'.repeat(100_001) }), refusal(/at most 100000/, 'bad_arguments'));
});

test('nothing runs before it is approved, and what is denied never does', async (t) => {
  const { run, folder } = await newBench(t);
  await run({ command: 'mkdir keep' });
  const no = fakeContext({ answer: () => ({ type: 'answered', value: 'deny:not today', by: 'ada' }) });
  await assert.rejects(run({ command: 'rm -r keep' }, no), refusal(/^Not run\. The person said no: not today\./, 'unavailable'));
  assert.equal((await run({ command: 'ls' })).output.includes('keep'), true);
  const yes = fakeContext({ answer: (question) => ({ type: 'answered', value: question.options[0]?.value ?? '', by: 'ada' }) });
  const done = await run({ command: 'rm -r keep' }, yes);
  assert.deepEqual([done.exit_code, done['approval']], [0, 'once']);
  assert.equal(yes.questions.length, 1);
  assert.ok(yes.questions[0]?.text.includes(`# in ${folder}\nrm -r keep`));
  assert.equal((await run({ command: 'ls' })).output.includes('keep'), false);
});

test('the floor holds in every mode', async (t) => {
  const { run } = await newBench(t, { settings: approvalSettings({ mode: 'off' }) });
  await assert.rejects(run({ command: 'rm -rf /' }), refusal(/never run here/, 'unavailable'));
  await assert.rejects(run({ command: `kill ${process.pid}` }), refusal(/stops or restarts the gateway/, 'unavailable'));
  await assert.rejects(run({ command: 'reboot', background: true }), refusal(/never run here/, 'unavailable'));
  assert.equal((await run({ command: 'mkdir x; rm -rf x' })).exit_code, 0);
});

test('a program at a terminal sees one', async (t) => {
  const { run } = await newBench(t);
  const answered = await run({ command: 'test -t 1 && echo terminal', pty: true }).catch((error: unknown) => error);
  if (answered instanceof ToolError) {
    assert.match(answered.message, /`script` of util-linux/);
    t.skip('there is no `script` of util-linux');
    return;
  }
  assert.deepEqual(answered, { output: 'terminal\n', exit_code: 0 });
  assert.equal((await run({ command: 'exit 5', pty: true })).exit_code, 5);
  assert.equal((await run({ command: 'test -t 1 && echo terminal || echo none' })).output, 'none\n');
});

test('what runs at a terminal of its own is ended too, even when it does not want to', { skip: process.platform === 'linux' ? false : 'only Linux shows who started whom' }, async (t) => {
  const { run, folder, backend } = await newBench(t);
  if (backend.terminal === undefined) {
    t.skip('there is no `script` of util-linux');
    return;
  }
  await writeFile(join(folder, 'stubborn.sh'), "trap '' TERM INT HUP\necho $$ > pid\nwhile :; do sleep 0.05; done\n");
  const abort = new AbortController();
  const clock = manualClock();
  const running = run({ command: 'sh stubborn.sh', pty: true }, fakeContext({ clock }), abort.signal);
  const pid = (): Promise<number> => pidIn(folder);
  await until(async () => (await pid()) > 0);
  abort.abort();
  assert.equal((await settled(running, clock)).exit_code, 130);
  await until(async () => (await processStart(await pid())) === undefined);
});

test('a turn is told that a long command is alive', async (t) => {
  const { run } = await newBench(t);
  let nowMs = 0;
  let said = 0;
  // Whatever is written comes a second after the beginning, also when all of it comes at once.
  const clock = { now: () => (nowMs += 1000), sleep: systemClock.sleep };
  await run({ command: 'echo a; sleep 0.01; echo b; sleep 0.01; echo c; sleep 0.01; echo d' }, { ...fakeContext({ clock }), alive: () => void (said += 1) });
  assert.ok(said > 0);
});

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { lockHome } from '../../store/locks/home-lock.ts';
import { holderOf, sendSignal, writtenPid } from './process.ts';

test('a signal to a process that has gone in the meantime is no failure', () => {
  const { pid } = spawnSync(process.execPath, ['--eval', '']);
  assert.equal(sendSignal(pid, 'SIGTERM'), false);
});

test('what the system would take for our own group, or for every process, gets no signal', () => {
  for (const pid of [0, -1, Number('no number')]) assert.throws(() => sendSignal(pid, 'SIGCONT'), RangeError);
});

test('who runs in a home is told by its file; none, and one that is just being written, tell nothing', async () => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-pid-'));
  const file = join(home, 'gateway.pid');
  try {
    assert.equal(writtenPid(home), undefined);
    await writeFile(file, '');
    assert.equal(writtenPid(home), undefined);
    await writeFile(file, '4711\n');
    assert.equal(writtenPid(home)?.pid, 4711);
  } finally {
    await rm(home, { recursive: true });
  }
});

/** The program and its arguments that run a command in a PID namespace of its own, as a container has one. */
const apart = ['unshare', ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']), '--pid', '--fork', '--mount-proc'];
const noNamespace = spawnSync(apart[0] ?? '', [...apart.slice(1), 'true']).status === 0 ? false : 'no PID namespaces here';

const lookFromApart = `
  import { spawn } from 'node:child_process';
  import { writeFileSync } from 'node:fs';
  const [home, at] = process.argv.slice(1);
  const { holderOf, isAlive } = await import(at + '/process.ts');
  const { endGateway } = await import(at + '/stop.ts');
  const innocent = spawn('sleep', ['600']);
  const say = (what) => console.log(JSON.stringify(what));
  say(holderOf(home));
  writeFileSync(home + '/gateway.pid', String(innocent.pid));
  say(holderOf(home));
  await endGateway(home, { drainMs: 0, force: true }).catch((error) => say(error.message));
  say(innocent.signalCode === null && isAlive(innocent.pid));
  innocent.kill();
`;

test('a number that a gateway of another container has written down is not taken for a process of this one, and nobody is ended', { skip: noNamespace }, async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-apart-'));
  t.after(() => rm(home, { recursive: true }));
  const lock = lockHome(home);
  t.after(() => lock?.release());
  const { stdout, stderr } = spawnSync(apart[0] ?? '', [...apart.slice(1), process.execPath, '--input-type=module', '--eval', lookFromApart, home, fileURLToPath(new URL('.', import.meta.url))], { encoding: 'utf8' });
  const [unnamed, named, refusal, isAlive] = stdout.trim().split('\n').map((line) => JSON.parse(line) as unknown);
  assert.deepEqual([unnamed, named, isAlive], [{ type: 'outside' }, { type: 'outside' }, true], stderr);
  assert.match(String(refusal), /is held from outside, by a process of another container or machine\. Use hermes where that runs/);
  assert.deepEqual(holderOf(home), { type: 'terminal' }, 'whoever can see the process knows that it is none of hermes gateway');
});

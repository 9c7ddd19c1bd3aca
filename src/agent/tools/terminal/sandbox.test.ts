import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../lib/clock.ts';
import { openBackend } from './backend.ts';
import { findProgram } from './find-program.ts';
import { terminalSection } from './options.ts';
import { runForeground } from './run-foreground.ts';
import { bubblewrapArgs, dockerArgs, readFolders } from './sandbox.ts';
import { programPath, temporaryFolder } from './terminal.test-support.ts';

const place = { cwd: '/ws/a', env: { PATH: '/bin', LANG: 'C' }, workspace: '/ws', folders: [{ path: '/data', writable: false }, { path: '/out', writable: true }], name: 'hermes-1' };
const settings = terminalSection.schema.parse({});

const pairs = (args: readonly string[], name: string): readonly string[] => args.flatMap((arg, at) => (arg === name ? [args[at + 1] ?? ''] : []));

test('folders are read with their rights', () => {
  assert.deepEqual(readFolders(['/a', '~/b:ro', '/c:rw', '~'], '/home/ada'), [
    { path: '/a', writable: true },
    { path: '/home/ada/b', writable: false },
    { path: '/c', writable: true },
    { path: '/home/ada', writable: true },
  ]);
});

test('a bubblewrap sandbox has its own everything, the folders named, and no variable that it was not given', () => {
  const args = bubblewrapArgs(['sh', '-c', 'x'], place, { container_network: false });
  assert.deepEqual(args.slice(-4), ['--', 'sh', '-c', 'x']);
  assert.ok(args.includes('--unshare-all') && args.includes('--new-session') && args.includes('--clearenv') && !args.includes('--share-net'));
  assert.deepEqual(pairs(args, '--bind'), ['/ws', '/out']);
  assert.deepEqual(pairs(args, '--ro-bind'), ['/data']);
  assert.deepEqual(pairs(args, '--setenv'), ['PATH', 'LANG', 'HOME', 'TMPDIR']);
  assert.deepEqual(pairs(args, '--chdir'), ['/ws/a']);
  assert.ok(!pairs(args, '--ro-bind-try').some((path) => ['/', '/etc', '/home', '/root', '/var'].includes(path)));
  assert.ok(bubblewrapArgs(['sh'], place, { container_network: true }).includes('--share-net'));
});

test('a container has no rights, limits, the folders named, and no variable of the gateway', () => {
  const args = dockerArgs(['sh', '-c', 'x'], place, settings);
  assert.deepEqual(args.slice(-4), ['debian:stable-slim', 'sh', '-c', 'x']);
  assert.deepEqual(pairs(args, '--cap-drop'), ['ALL']);
  assert.deepEqual(pairs(args, '--cap-add'), ['DAC_OVERRIDE', 'CHOWN', 'FOWNER']);
  assert.deepEqual(['--security-opt', '--pids-limit', '--cpus', '--memory', '--network', '--name', '--workdir'].map((name) => pairs(args, name)[0]), ['no-new-privileges', '256', '1', '5120m', 'bridge', 'hermes-1', '/ws/a']);
  assert.deepEqual(pairs(args, '--mount'), ['type=bind,"source=/ws","target=/ws"', 'type=bind,"source=/data","target=/data",readonly', 'type=bind,"source=/out","target=/out"']);
  assert.deepEqual(pairs(args, '--env'), ['LANG=C', 'HOME=/ws']);
  assert.ok(!args.includes('--privileged'));
  assert.deepEqual(pairs(dockerArgs(['sh'], place, { ...settings, container_network: false }), '--network'), ['none']);
});

test('a backend that is not there is refused with what to do', async (t) => {
  const workspace = await temporaryFolder(t);
  const open = (backend: string, path: string): Promise<unknown> => openBackend({ settings: terminalSection.schema.parse({ backend }), workspace, userHome: workspace, path });
  await assert.rejects(open('bubblewrap', workspace), /bwrap was not found\. Install it .*or set terminal\.backend to local/);
  await assert.rejects(open('docker', workspace), /docker was not found/);
  await assert.rejects(open('local', workspace), /neither bash nor sh was found/);
});

test('a daemon that does not answer is said so', async (t) => {
  const workspace = await temporaryFolder(t);
  await writeFile(join(workspace, 'docker'), '#!/bin/sh\necho "Cannot connect" >&2\nexit 1\n', { mode: 0o755 });
  await assert.rejects(openBackend({ settings: terminalSection.schema.parse({ backend: 'docker' }), workspace, userHome: workspace, path: `${workspace}:${programPath}` }), /its daemon cannot be reached.*\(Cannot connect\)/);
});

test('docker is started with its own settings only, isolated unless a folder of the machine may be written', async (t) => {
  const workspace = await temporaryFolder(t);
  await writeFile(join(workspace, 'docker'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  const open = (container_folders: string[]) => openBackend({ settings: terminalSection.schema.parse({ backend: 'docker', container_folders }), workspace, userHome: '/home/ada', path: `${workspace}:${programPath}` });
  const backend = await open(['/data:ro']);
  const launch = backend.launch(['sh', '-c', 'x'], { cwd: workspace, env: { A: '1', PATH: '/bin' } });
  assert.deepEqual([launch.argv[0], launch.env, backend.isolated, backend.terminal], [join(workspace, 'docker'), { PATH: `${workspace}:${programPath}`, HOME: '/home/ada' }, true, undefined]);
  assert.deepEqual(launch.cleanup?.argv.slice(0, 2), [join(workspace, 'docker'), 'kill']);
  assert.ok(launch.argv.includes(launch.cleanup?.argv[2] ?? 'none'));
  assert.equal((await open(['/data'])).isolated, false);
});

test('whatever is asked of docker is asked of the same daemon, and without secrets of the gateway', async (t) => {
  const workspace = await temporaryFolder(t);
  const calls = join(workspace, 'calls');
  await writeFile(join(workspace, 'docker'), `#!/bin/sh\nprintf '%s %s %s %s\\n' "$1" "$DOCKER_HOST" "$HOME" "$OPENAI_API_KEY$HERMES_HTTP_TOKEN" >> '${calls}'\n[ "$1" = run ] && exec sleep 600\nexit 0\n`, { mode: 0o755 });
  const own: Readonly<Record<string, string>> = { DOCKER_HOST: 'tcp://build.example:2376', OPENAI_API_KEY: 'sk-1', HERMES_HTTP_TOKEN: 'token' };
  const backend = await openBackend({ settings: terminalSection.schema.parse({ backend: 'docker' }), workspace, userHome: '/home/ada', path: `${workspace}:${programPath}`, environment: (name) => own[name] });
  const stop = new AbortController();
  const running = runForeground(backend.launch(['sh', '-c', 'x'], { cwd: workspace, env: { PATH: '/bin' } }), { timeoutMs: 60_000, signal: stop.signal, clock: systemClock, onOutput: () => undefined });
  while (!(await readFile(calls, 'utf8')).includes('run ')) await systemClock.sleep(10);
  stop.abort();
  await running;
  assert.deepEqual((await readFile(calls, 'utf8')).trimEnd().split('\n').map((line) => line.trimEnd()), ['version', 'run', 'kill'].map((call) => `${call} tcp://build.example:2376 /home/ada`));
});

const bwrap = await findProgram('bwrap', programPath);
const bwrapWorks = bwrap !== undefined && spawnSync(bwrap, ['--ro-bind', '/', '/', '--unshare-all', 'true']).status === 0;

test('a real bubblewrap sandbox writes its own folder and nothing else', { skip: bwrapWorks ? false : 'bwrap is not here, or may not make namespaces' }, async (t) => {
  const folder = await temporaryFolder(t);
  const workspace = join(folder, 'ws');
  await mkdir(workspace);
  await writeFile(join(folder, 'outside'), 'secret');
  const backend = await openBackend({ settings: terminalSection.schema.parse({ backend: 'bubblewrap', container_network: false }), workspace, userHome: folder, path: programPath });
  const launch = backend.launch([backend.shell, '-c', `echo in > file; cat ${join(folder, 'outside')}; touch /usr/x; echo "$HOME"`], { cwd: workspace, env: { PATH: programPath } });
  const { output, exitCode } = await runForeground(launch, { timeoutMs: 20_000, clock: systemClock, signal: new AbortController().signal, onOutput: () => undefined });
  assert.equal(exitCode, 0);
  assert.equal(await readFile(join(workspace, 'file'), 'utf8'), 'in\n');
  assert.ok(!output.head.includes('secret') && output.head.includes(workspace));
});

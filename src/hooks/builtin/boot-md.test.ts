import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { newTestFolder, startHooks, until } from '../hook-folder.test-support.ts';
import { hookEvents } from '../events.ts';
import { bootMd } from './boot-md.ts';

test('each agent works through its own BOOT.md when the gateway starts, and those without one do nothing', async () => {
  await using main = await newTestFolder();
  await using support = await newTestFolder();
  await using idle = await newTestFolder();
  await writeFile(join(main.path, 'BOOT.md'), '- look at the mail\n');
  await writeFile(join(support.path, 'BOOT.md'), 'x'.repeat(50_000));
  await writeFile(join(idle.path, 'BOOT.md'), ' \n');
  const begun: { agent: string; text: string }[] = [];
  const boot = bootMd({
    agents: () => [{ id: 'main', home: main.path }, { id: 'support', home: support.path }, { id: 'idle', home: idle.path }, { id: 'none', home: join(idle.path, 'none') }],
    begin: async (agent, text) => void begun.push({ agent, text }),
  });
  await using running = await startHooks(() => [], { builtins: [boot] });
  running.hooks.emit('session:start', hookEvents['session:start'].sample);
  running.hooks.emit('gateway:startup', hookEvents['gateway:startup'].sample);
  await until(() => begun.length === 2, 'both to begin');
  assert.deepEqual(begun.map(({ agent }) => agent), ['main', 'support']);
  assert.match(begun[0]?.text ?? '', /\[SILENT\][\s\S]*- look at the mail$/);
  assert.ok((begun[1]?.text.length ?? 0) < 21_000, 'a file without end is cut');
  assert.equal(running.hooks.report().hooks[0]?.calls, 1);
});

test('a BOOT.md that cannot be read keeps no other agent from its own, and is told as a failure', async () => {
  await using broken = await newTestFolder();
  await using fine = await newTestFolder();
  await mkdir(join(broken.path, 'BOOT.md'));
  await writeFile(join(fine.path, 'BOOT.md'), 'water the plants');
  const begun: string[] = [];
  const boot = bootMd({ agents: () => [{ id: 'main', home: broken.path }, { id: 'support', home: fine.path }], begin: async (agent) => void begun.push(agent) });
  await using running = await startHooks(() => [], { builtins: [boot] });
  running.hooks.emit('gateway:startup', hookEvents['gateway:startup'].sample);
  await until(() => running.hooks.report().hooks[0]?.failures === 1, 'the failure to be counted');
  assert.deepEqual(begun, ['support']);
  assert.match(running.hooks.report().hooks[0]?.lastProblem ?? '', /EISDIR/);
});

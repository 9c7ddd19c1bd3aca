import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { discoverHooks } from './discover.ts';
import { newTestFolder, sh, ts } from './hook-folder.test-support.ts';

const manifest = { events: ['agent:end'] };

test('hooks come in the order of their names, each with its kind of handler', async () => {
  await using folder = await newTestFolder();
  await folder.hook('b-program', manifest, sh('true'));
  await folder.hook('a-module', manifest, ts('export const handle = () => null;'));
  await folder.hook('c-python', manifest, { file: 'handler.py', code: 'def handle(event, context): pass' });
  await folder.hook('d-script', manifest, { file: 'handler.py', code: '#!/usr/bin/env python3', mode: 0o755 });
  const found = await discoverHooks({ path: folder.path });
  assert.deepEqual(found.map((hook) => ('handler' in hook ? [hook.id, hook.handler.kind] : hook)), [['a-module', 'module'], ['b-program', 'program'], ['c-python', 'python'], ['d-script', 'program']]);
});

test('what belongs to an agent carries its name', async () => {
  await using folder = await newTestFolder();
  await folder.hook('guard', manifest, sh('true'));
  const [hook] = await discoverHooks({ path: folder.path, agent: 'support' });
  assert.deepEqual([hook?.id, hook?.agent], ['support/guard', 'support']);
});

test('what cannot be used says why, and hinders nothing else', async () => {
  await using folder = await newTestFolder();
  await folder.hook('a', manifest, sh('true'));
  await folder.hook('no-handler', manifest);
  await folder.hook('not-runnable', manifest, { file: 'handler.sh', code: 'true' });
  await folder.hook('two', manifest, sh('true'));
  await writeFile(join(folder.path, 'two', 'handler.ts'), '');
  await folder.hook('yaml', '{');
  const problems = (await discoverHooks({ path: folder.path })).map((hook) => ('problem' in hook ? `${hook.id}: ${hook.problem}` : hook.id));
  assert.equal(problems[0], 'a');
  assert.match(problems[1] ?? '', /^no-handler: there is no handler/);
  assert.match(problems[2] ?? '', /^not-runnable: .*chmod \+x/);
  assert.match(problems[3] ?? '', /^two: there are several handlers.*handler, handler\.ts/);
  assert.match(problems[4] ?? '', /^yaml: HOOK\.yaml/);
});

test('folders without a manifest, hidden ones and files are no hooks, and no folder is none', async () => {
  await using folder = await newTestFolder();
  await mkdir(join(folder.path, 'notes'));
  await folder.hook('.git', manifest, sh('true'));
  await folder.hook('_off', manifest, sh('true'));
  await writeFile(join(folder.path, 'README.md'), '');
  assert.deepEqual(await discoverHooks({ path: folder.path }), []);
  assert.deepEqual(await discoverHooks({ path: join(folder.path, 'nowhere') }), []);
});

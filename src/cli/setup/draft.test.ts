import assert from 'node:assert/strict';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryHome } from '../../config/sample-config.ts';
import { newRedactor } from '../../lib/redact.ts';
import { Draft } from './draft.ts';
import { modelChanges } from './model-settings.ts';

const open = (home: string, env: Readonly<Record<string, string>> = {}): Promise<Draft> => Draft.open({ home, env, redactor: newRedactor() });
const now = new Date(2026, 10, 15, 10, 12, 7);

test('nothing is on disk before it is written, and a home is made only then', async () => {
  await using parent = await temporaryHome();
  const home = join(parent.path, 'new');
  const draft = await open(home);
  assert.equal(draft.set([{ path: 'http.port', value: '9000' }]), undefined);
  assert.deepEqual([draft.isChanged, await readdir(parent.path)], [true, []]);
  assert.deepEqual(await draft.write(now), { files: [join(home, 'config.yaml')], backups: [] });
  assert.match(await readFile(join(home, 'config.yaml'), 'utf8'), /^# Settings[^]*\n\nhttp:\n {2}# Port to listen on[^\n]*\n {2}port: 9000\n$/);
  assert.equal((await stat(home)).mode & 0o777, 0o700);
});

test('changes are made together or not at all, and can be taken back', async () => {
  const draft = await open('/nowhere/at/all');
  assert.match(draft.set([{ path: 'http.port', value: '9000' }, { path: 'http.prot', value: '1' }]) ?? '', /http\.prot.*did you mean port/);
  assert.equal(draft.isChanged, false);
  const goBack = draft.mark();
  assert.equal(draft.set([{ path: 'model.provider', value: 'openai' }, { path: 'model.default', value: 'x' }]), undefined);
  goBack();
  assert.equal(draft.isChanged, false);
});

test('another model takes nothing of the last one with it, and no key leaves .env', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'model:\n  provider: custom\n  default: a # the old one\n  base_url: http://127.0.0.1:1/v1\n  api_key: ${OLD_KEY}\n');
  await home.write('.env', 'OLD_KEY=old-key-value\n');
  const draft = await open(home.path);
  assert.equal(draft.set(modelChanges({ provider: 'deepseek', model: 'b', key: 'new-key-value' })), undefined);
  const { backups } = await draft.write(now);
  assert.equal(await readFile(join(home.path, 'config.yaml'), 'utf8'), 'model:\n  provider: deepseek\n  default: b # the old one\n');
  assert.match(await readFile(join(home.path, '.env'), 'utf8'), /^OLD_KEY=old-key-value\n# .+\nDEEPSEEK_API_KEY=new-key-value\n$/);
  assert.deepEqual(backups.map((path) => path.slice(home.path.length + 1)).toSorted(), ['.env.20261115-101207.bak', 'config.yaml.20261115-101207.bak']);
  for (const path of backups) assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test('a model named by a bare word can be replaced, too', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', '# mine\nmodel: some-model # bare\nhttp: { port: 1 }\n');
  const draft = await open(home.path, { OPENAI_API_KEY: 'sk-0123456789' });
  assert.equal(draft.set(modelChanges({ provider: 'openai', model: 'b' })), undefined);
  const loaded = draft.load();
  assert.deepEqual(loaded.ok && [loaded.sections.model.provider, loaded.sections.model.default, loaded.sections.http.port], ['openai', 'b', 1]);
});

test('a file that somebody changed meanwhile is left alone', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'http: { port: 1 }\n');
  const draft = await open(home.path);
  draft.set([{ path: 'http.port', value: '2' }]);
  await home.write('config.yaml', 'http: { port: 3 }\n');
  await assert.rejects(draft.write(now), /changed by somebody else/);
  assert.equal(await readFile(join(home.path, 'config.yaml'), 'utf8'), 'http: { port: 3 }\n');
});

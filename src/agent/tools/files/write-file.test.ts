import assert from 'node:assert/strict';
import { chmod, link, lstat, readFile, readdir, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newDesk } from './files.test-support.ts';
import type { Desk } from './files.test-support.ts';

let desk: Desk;
before(async () => {
  desk = await newDesk();
});
after(() => desk[Symbol.asyncDispose]());

const write = (path: string, content: string, sessionId = 's1'): Promise<string> => desk.run('write_file', { path, content }, { context: desk.context({ sessionId }) });
const text = (path: string): Promise<string> => readFile(join(desk.work, path), 'utf8');
const noLeftovers = async (): Promise<void> => assert.deepEqual((await readdir(desk.work, { recursive: true })).filter((name) => name.endsWith('.tmp')), []);

test('a new file is written with the folders it needs', async () => {
  assert.equal(await write('new/deep/a.txt', 'one\ntwo\n'), 'Wrote new/deep/a.txt (2 lines, 8 bytes).');
  assert.equal(await text('new/deep/a.txt'), 'one\ntwo\n');
  await noLeftovers();
});

test('a file that is replaced keeps its mode, and a link to it stays a link', async () => {
  const path = await desk.put('tool.sh', 'old');
  await chmod(path, 0o751);
  await symlink('tool.sh', join(desk.work, 'link.sh'));
  assert.match(await write('link.sh', 'new'), /^Replaced tool\.sh/);
  assert.equal(await text('tool.sh'), 'new');
  assert.equal((await stat(path)).mode & 0o777, 0o751);
  assert.ok((await lstat(join(desk.work, 'link.sh'))).isSymbolicLink());
  await noLeftovers();
});

test('whoever replaces a file without having read it is told so', async () => {
  await desk.put('unread.txt', 'precious');
  assert.match(await write('unread.txt', 'x'), /you had not read it; its 8 bytes were replaced/);
  assert.doesNotMatch(await write('unread.txt', 'y'), /had not read/, 'after writing it, one knows it');
});

test('whoever writes a file that changed since it was read is warned, and only once', async () => {
  const path = await desk.put('stale.txt', 'one');
  await desk.run('read_file', { path: 'stale.txt' });
  await writeFile(path, 'two');
  await utimes(path, new Date(1_000_000), new Date(1_000_000));
  assert.match(await write('stale.txt', 'three'), /Warning: stale\.txt had been changed by somebody else since you read it/);
  assert.doesNotMatch(await write('stale.txt', 'four'), /Warning/);
  await write('stale.txt', 'five', 'another');
  assert.match(await write('stale.txt', 'six'), /Warning/, 'another conversation is somebody else');
});

test('text with the numbers that read_file shows is refused, a table is not', async () => {
  await assert.rejects(write('a.ts', '1|const a = 1;\n2|\n3|const b = 2;\n'), { code: 'bad_arguments', message: /line numbers/ });
  await write('data.csv', '1|ann\n2|bob\n');
  await write('b.ts', '1|one\n7|seven\n');
});

test('errors of form are reported when they are new', async () => {
  assert.match(await write('a.json', '{"a": 1,}'), /Warning: a\.json is no longer well-formed: /);
  assert.doesNotMatch(await write('a.json', '{"a": 2,}'), /Warning/, 'it was so before');
  assert.match(await write('a.yaml', 'a: [1\nb: 2\n'), /Warning: a\.yaml is no longer well-formed/);
  assert.doesNotMatch(await write('tsconfig.json', '{ /* ok */ }'), /Warning/);
  assert.doesNotMatch(await write('b.yml', 'a: !secret x\n---\nb: 1\n'), /Warning/);
});

test("the gateway's own files are written after a person said yes to exactly that", async () => {
  const path = await desk.put(join(desk.home, 'config.yaml'), 'model: a\n');
  await assert.rejects(write(path, 'model: b\n'), { code: 'unavailable', message: /changes the gateway's configuration\. That was not approved \(nobody said yes\)\. Nothing was written/ });
  assert.equal(await readFile(path, 'utf8'), 'model: a\n');
  const request = desk.asked.at(-1)!;
  assert.deepEqual([request.tool, request.pattern, request.reasons], ['write_file', 'write config.yaml', ["changes the gateway's configuration"]]);
  assert.match(request.subject, /^write .*\/config\.yaml\n@@ line 1\n-model: a\n\+model: b\nsha256 [0-9a-f]{16}$/);
  desk.answers.push({ allowed: true, how: 'once' });
  await write(path, 'model: b\n');
  assert.equal(await readFile(path, 'utf8'), 'model: b\n');
});

test('an approval is not used for a file that changed while it was awaited', async () => {
  const asking = await newDesk({
    async approve({ subject }) {
      await writeFile(subject.split('\n')[0]!.slice('write '.length), 'model: changed\n');
      return { allowed: true, how: 'once' };
    },
  });
  const path = await asking.put(join(asking.home, 'config.yaml'), 'model: a\n');
  await assert.rejects(asking.run('write_file', { path, content: 'model: b\n' }), { code: 'failed', message: /changed by somebody else at this moment/ });
  assert.equal(await readFile(path, 'utf8'), 'model: changed\n');
  await asking[Symbol.asyncDispose]();
});

test('a hard link to the configuration asks like the configuration itself, and gets no secret out', async () => {
  const config = await desk.put(join(desk.home, 'SOUL.md'), 'kind');
  const env = await desk.put(join(desk.home, '.env'), 'KEY=1');
  await link(config, join(desk.work, 'innocent.md'));
  await link(env, join(desk.work, 'plain.txt'));
  await assert.rejects(write('innocent.md', 'evil'), { code: 'unavailable', message: /changes who the agent is/ });
  assert.equal(await readFile(config, 'utf8'), 'kind');
  await assert.rejects(write('plain.txt', 'KEY=2'), { code: 'unavailable', message: /holds credentials/ });
  await assert.rejects(desk.run('read_file', { path: 'plain.txt' }), { code: 'unavailable', message: /holds credentials/ });
  assert.equal(await desk.run('search_files', { pattern: 'KEY' }), 'Nothing found.');
});

test('two who write one file at the same moment do so one after the other', async () => {
  await Promise.all(Array.from({ length: 12 }, (_, index) => write('race.txt', `${index}\n`.repeat(1000), `s${index}`)));
  const lines = new Set((await text('race.txt')).trimEnd().split('\n'));
  assert.equal(lines.size, 1);
  await noLeftovers();
});

test('an ended turn writes nothing', async () => {
  await assert.rejects(desk.run('write_file', { path: 'late.txt', content: 'x' }, { signal: AbortSignal.abort(new Error('stop')) }), { message: 'stop' });
  await assert.rejects(text('late.txt'), { code: 'ENOENT' });
});

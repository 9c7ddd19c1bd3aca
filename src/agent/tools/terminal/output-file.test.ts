import assert from 'node:assert/strict';
import { appendFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { OutputFile } from './output-file.ts';
import { temporaryFolder } from './terminal.test-support.ts';

test('output is read from any position, and what is not there yet is nothing', async (t) => {
  const file = new OutputFile(join(await temporaryFolder(t), 'p.log'));
  assert.deepEqual([await file.end(), (await file.read(0, 10)).bytes.length, await file.text()], [0, 0, '']);
  await writeFile(file.path, 'hello world');
  assert.equal((await file.read(6, 3)).bytes.toString(), 'wor');
  assert.equal((await file.read(11, 10)).bytes.length, 0);
});

test('a file that grows without end is shortened, its end is remembered, and positions go on counting', async (t) => {
  const folder = await temporaryFolder(t);
  const file = new OutputFile(join(folder, 'p.log'));
  const long = 8 * 1024 * 1024;
  await writeFile(file.path, Buffer.alloc(long, 'a'));
  await appendFile(file.path, '\nlast line\n');
  const end = await file.end();
  await file.trim();
  assert.equal((await stat(file.path)).size, 0);
  assert.equal(await file.end(), end);
  await appendFile(file.path, 'new\n');
  const read = await file.read(5, 100);
  assert.deepEqual([read.from, read.bytes.toString()], [end, 'new\n']);
  const text = await file.text();
  assert.equal(text.length, 200_000);
  assert.ok(text.endsWith('a\nlast line\nnew\n'));
  await file.remove();
  assert.deepEqual(await readdir(folder), []);
});

test('a short file stays as it is', async (t) => {
  const file = new OutputFile(join(await temporaryFolder(t), 'p.log'));
  await writeFile(file.path, 'x');
  await file.trim();
  assert.equal((await stat(file.path)).size, 1);
});

import assert from 'node:assert/strict';
import { chmod, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newDesk } from './files.test-support.ts';
import type { Desk } from './files.test-support.ts';

let desk: Desk;
before(async () => {
  desk = await newDesk();
});
after(() => desk[Symbol.asyncDispose]());

const text = (path: string): Promise<string> => readFile(join(desk.work, path), 'utf8');
const replace = (path: string, old_string: string, new_string: string, more: Record<string, unknown> = {}): Promise<string> => desk.run('patch', { path, old_string, new_string, ...more });
const patch = (...lines: string[]): Promise<string> => desk.run('patch', { mode: 'patch', patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') });

test('one place is replaced', async () => {
  await desk.put('a.txt', 'one two three\n');
  assert.equal(await replace('a.txt', 'two', '2'), 'Changed 1 place in a.txt.');
  assert.equal(await text('a.txt'), 'one 2 three\n');
  assert.equal(await replace('a.txt', 'e', 'E', { replace_all: true }), 'Changed 3 places in a.txt.');
});

test('what had to be overlooked is said, together with the change', async () => {
  await desk.put('b.py', 'def f():\n        return 1\n');
  assert.equal(await replace('b.py', 'return 1', 'return 2'), 'Changed 1 place in b.py.');
  assert.equal(await replace('b.py', 'def f():\n    return 2\n', 'def f():\n    return 3\n'), 'Changed 1 place in b.py.\nIt was found by overlooking indentation. Check the change:\n@@ line 2\n-        return 2\n+        return 3');
});

test('an unclear or missing place, and arguments without sense, change nothing', async () => {
  await desk.put('c.txt', 'x\ny\nx\n');
  await assert.rejects(replace('c.txt', 'x', 'z'), { code: 'failed', message: /occurs 2 times in c\.txt: lines 1, 3\. .*replace_all/ });
  await assert.rejects(replace('c.txt', 'nothing like it', 'z'), { code: 'failed', message: /is not in c\.txt/ });
  await assert.rejects(replace('c.txt', '', 'z'), { code: 'bad_arguments', message: /write_file/ });
  await assert.rejects(replace('c.txt', 'x', 'x'), { code: 'bad_arguments', message: /the same/ });
  await assert.rejects(replace('c.txt', '1|x\n2|y', 'z'), { code: 'bad_arguments', message: /line numbers/ });
  await assert.rejects(desk.run('patch', { path: 'c.txt' }), { code: 'bad_arguments', message: /needs path, old_string and new_string/ });
  await assert.rejects(desk.run('patch', { mode: 'patch' }), { code: 'bad_arguments' });
  await assert.rejects(replace('no-such.txt', 'x', 'z'), { code: 'failed', message: /does not exist/ });
  assert.equal(await text('c.txt'), 'x\ny\nx\n');
});

test('line ends of Windows and a byte order mark are kept', async () => {
  await desk.put('win.txt', '\uFEFFone\r\ntwo\r\nthree\r\n');
  await replace('win.txt', 'one\ntwo', 'ONE\nTWO\nNEW');
  assert.equal(await text('win.txt'), '\uFEFFONE\r\nTWO\r\nNEW\r\nthree\r\n');
});

test('a file that is not UTF-8 is left alone', async () => {
  await desk.put('latin1.txt', Buffer.from('caf\xe9 one\n', 'latin1'));
  await assert.rejects(replace('latin1.txt', 'one', 'two'), { code: 'failed', message: /not UTF-8/ });
  await desk.put('bin', Buffer.from('one\0'));
  await assert.rejects(replace('bin', 'one', 'two'), { code: 'failed', message: /binary file/ });
});

test('a patch adds, changes, moves and deletes files', async () => {
  await desk.put('p/changed.txt', 'a\nb\n');
  await chmod(await desk.put('p/moved.sh', 'run\n'), 0o755);
  await desk.put('p/deleted.bin', Buffer.from('x\0'));
  const said = await patch('*** Update File: p/changed.txt', '@@', '-b', '+B', '*** Add File: p/new/added.txt', '+hello', '*** Update File: p/moved.sh', '*** Move to: p/there.sh', '@@', '-run', '+walk', '*** Delete File: p/deleted.bin');
  assert.equal(said, 'changed p/changed.txt\nadded p/new/added.txt\nmoved p/moved.sh to p/there.sh\ndeleted p/deleted.bin');
  assert.deepEqual(await Promise.all(['p/changed.txt', 'p/new/added.txt', 'p/there.sh'].map(text)), ['a\nB\n', 'hello\n', 'walk\n']);
  assert.equal((await stat(join(desk.work, 'p/there.sh'))).mode & 0o777, 0o755);
  assert.deepEqual((await readdir(join(desk.work, 'p'))).toSorted(), ['changed.txt', 'new', 'there.sh']);
});

test('one file may be changed by several sections, one after the other', async () => {
  await desk.put('twice.txt', 'a\nb\n');
  await patch('*** Update File: twice.txt', '-a', '+A', '*** Update File: twice.txt', ' A', '-b', '+B');
  assert.equal(await text('twice.txt'), 'A\nB\n');
});

test('a patch with one part that does not fit changes no file at all', async () => {
  await desk.put('q/one.txt', '1\n');
  await desk.put('q/two.txt', '2\n');
  const tries: readonly (readonly string[])[] = [
    ['*** Update File: q/two.txt', '-3', '+4'],
    ['*** Add File: q/two.txt', '+x'],
    ['*** Delete File: q/three.txt'],
    ['*** Update File: q/three.txt', '-x'],
    ['*** Update File: q/two.txt', '*** Move to: q/one.txt'],
    ['*** Add File: ~/.ssh/authorized_keys', '+x'],
    ['*** Add File: /etc/cron.d/x', '+x'],
    ['*** Add File: ~/.hermes/hooks/x.ts', '+x'],
  ];
  for (const lines of tries) await assert.rejects(patch('*** Update File: q/one.txt', '-1', '+one', ...lines), { name: 'ToolError' }, lines[0]);
  assert.deepEqual([await text('q/one.txt'), await text('q/two.txt')], ['1\n', '2\n']);
  assert.deepEqual((await readdir(join(desk.work, 'q'))).toSorted(), ['one.txt', 'two.txt']);
});

test('what was written already is put back when a later file cannot be written', async () => {
  await desk.put('r/first.txt', 'old\n');
  await desk.put('r/gone.txt', 'keep\n');
  // The last file cannot take the place of the folder that the one before it needs, which shows only when it is put there.
  const tried = patch('*** Update File: r/first.txt', '-old', '+new', '*** Delete File: r/gone.txt', '*** Add File: r/x/y', '+inner', '*** Add File: r/x', '+outer', '*** Add File: r/late.txt', '+late');
  await assert.rejects(tried, { code: 'failed', message: /is a folder/ });
  assert.deepEqual([await text('r/first.txt'), await text('r/gone.txt')], ['old\n', 'keep\n']);
  assert.deepEqual((await readdir(join(desk.work, 'r'), { recursive: true })).toSorted(), ['first.txt', 'gone.txt', 'x']);
});

test('a patch asks once for each file that needs it, before anything is written', async () => {
  await desk.put('s.txt', 'a\n');
  desk.asked.length = 0;
  desk.answers.push({ allowed: true, how: 'once' });
  await assert.rejects(patch('*** Update File: s.txt', '-a', '+b', '*** Add File: ~/.hermes/SOUL.md', '+me', '*** Add File: ~/.bashrc', '+evil'), { code: 'unavailable', message: /outside the folders/ });
  assert.equal(desk.asked.length, 0, 'what is denied is not asked about');
  await assert.rejects(patch('*** Update File: s.txt', '-a', '+b', '*** Add File: ~/.hermes/SOUL.md', '+me', '*** Add File: ~/.hermes/hooks/a.ts', '+code'), { code: 'unavailable', message: /code that the gateway runs/ });
  assert.deepEqual(desk.asked.map(({ pattern }) => pattern), ['write soul.md', 'write hooks']);
  assert.equal(await text('s.txt'), 'a\n');
  desk.answers.length = 0;
});

test('whoever patches a file that changed since it was read is warned', async () => {
  const path = await desk.put('w.txt', 'one\ntwo\n');
  await desk.run('read_file', { path: 'w.txt' });
  await writeFile(path, 'zero\none\ntwo\n');
  assert.match(await replace('w.txt', 'two', '2'), /^Changed 1 place in w\.txt\.\nWarning: w\.txt had been changed by somebody else/);
  await rm(path);
});

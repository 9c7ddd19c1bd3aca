import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { resultsFolder, spillResult } from '../spill-result.ts';
import { newDesk } from './files.test-support.ts';
import type { Desk } from './files.test-support.ts';

let desk: Desk;
before(async () => {
  desk = await newDesk();
});
after(() => desk[Symbol.asyncDispose]());

let sessions = 0;
/** Reads in a conversation of its own, so that nothing was read before. */
const read = (path: string, more: Record<string, unknown> = {}): Promise<string> => {
  sessions += 1;
  return desk.run('read_file', { path, ...more }, { context: desk.context({ sessionId: `r${sessions}` }) });
};
const refusal = (code: string, message: RegExp) => ({ name: 'ToolError', code, message });

test('lines come with their numbers', async () => {
  await desk.put('a.txt', 'one\ntwo\n\nfour');
  assert.equal(await read('a.txt'), '1|one\n2|two\n3|\n4|four');
  assert.equal(await read(join(desk.work, 'a.txt')), await read('~/work/a.txt'));
});

test('a part is shown with where it lies and how to go on', async () => {
  await desk.put('long.txt', Array.from({ length: 1200 }, (_, index) => `line ${index + 1}\n`).join(''));
  const first = (await read('long.txt')).split('\n');
  assert.equal(first.length, 501);
  assert.equal(first.at(-1), '[Lines 1-500 of 1200. Continue with offset 501.]');
  assert.equal(await read('long.txt', { offset: 1199, limit: 10 }), '1199|line 1199\n1200|line 1200\n[Lines 1199-1200 of 1200; this is the end.]');
  await assert.rejects(read('long.txt', { offset: 1201 }), refusal('bad_arguments', /has 1200 lines/));
  await assert.rejects(read('long.txt', { limit: 2001 }), { code: 'bad_arguments' });
});

test('line ends of Windows and a byte order mark are not shown, an empty file is called so', async () => {
  await desk.put('win.txt', '\uFEFFone\r\ntwo\r\n');
  assert.equal(await read('win.txt'), '1|one\n2|two');
  await desk.put('empty.txt', '');
  assert.equal(await read('empty.txt'), '[empty.txt is empty.]');
});

test('one line that is too long is read in parts, and no character is broken', async () => {
  const line = '😀'.repeat(100_000);
  await desk.put('wide.txt', `${line}\nnext\n`);
  let text = '';
  let offset: number | undefined = 0;
  while (offset !== undefined) {
    const part = await read('wide.txt', { limit: 1, char_offset: offset });
    assert.ok(part.length < 100_000 && part.isWellFormed());
    text += part.split('\n')[0]!.slice(2);
    const next = /char_offset (\d+)\.\]$/.exec(part);
    offset = next === null ? undefined : Number(next[1]);
  }
  assert.equal(text, line);
});

test('a line that does not fit after others is left for the next part', async () => {
  await desk.put('mixed.txt', `short\n${'x'.repeat(95_000)}\nend\n`);
  assert.equal(await read('mixed.txt'), '1|short\n[Lines 1-1 of 3. Continue with offset 2.]');
});

test('parts put together are the file, wherever it is cut', async () => {
  const name = 'property.txt';
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom('', 'a', 'bb', 'ü', '|', '1|x'), { minLength: 1, maxLength: 30 }), fc.integer({ min: 1, max: 7 }), async (lines, limit) => {
      await desk.put(name, lines.map((line) => `${line}\n`).join(''));
      const seen: string[] = [];
      for (let offset: number | undefined = 1; offset !== undefined; ) {
        const rows: string[] = (await read(name, { offset, limit })).split('\n');
        const note: RegExpExecArray | null = /^\[Lines .*?(?:Continue with offset (\d+)\.)?\]$/.exec(rows.at(-1) ?? '');
        seen.push(...(note === null ? rows : rows.slice(0, -1)));
        offset = note?.[1] === undefined ? undefined : Number(note[1]);
      }
      assert.deepEqual(seen, lines.map((line, index) => `${index + 1}|${line}`));
    }),
    { numRuns: 30 },
  );
});

test('a file that has not changed is pointed to once, and shown again to whoever asks again', async () => {
  await desk.put('again.txt', 'same\n');
  const context = desk.context({ sessionId: 'again' });
  const again = (more: Record<string, unknown> = {}): Promise<string> => desk.run('read_file', { path: 'again.txt', ...more }, { context });
  assert.equal(await again(), '1|same');
  assert.match(await again(), /has not changed since you read this part/);
  assert.equal(await again(), '1|same');
  assert.equal(await again({ limit: 5 }), '1|same', 'another part');
  await appendFile(join(desk.work, 'again.txt'), 'more\n');
  assert.equal(await again(), '1|same\n2|more');
});

test('what is no text is named and refused', async () => {
  const cases: readonly [string, Uint8Array, RegExp][] = [
    ['a.png', Buffer.from('89504e470d0a1a0a0000', 'hex'), /PNG image.*as a picture in the chat/],
    ['a.jpg', Buffer.from('ffd8ffe000104a46', 'hex'), /JPEG image/],
    ['a.webp', Buffer.from('RIFF0000WEBPVP8 '), /WebP image/],
    ['a.pdf', Buffer.from('%PDF-1.7\n'), /PDF document.*Convert it/],
    ['a.pptx', Buffer.from('504b030414', 'hex'), /office document/],
    ['a.bin', Buffer.from('text\0more'), /binary file/],
    ['a.txt16', Buffer.from('fffe6100', 'hex'), /UTF-16/],
  ];
  for (const [name, bytes, message] of cases) {
    await desk.put(name, bytes);
    await assert.rejects(read(name), refusal('bad_arguments', message), name);
  }
  await desk.put('latin1.txt', Buffer.from('caf\xe9\n', 'latin1'));
  assert.match(await read('latin1.txt'), /^1\|caf\uFFFD\n\[Some characters could not be read as UTF-8/);
});

/** No system call of Node makes one. */
const makePipe = 'mkfifo';

test('a pipe without a writer is refused and not waited for', async (t) => {
  try {
    execFileSync(makePipe, [join(desk.work, 'pipe')]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return t.skip('mkfifo is not installed');
  }
  await assert.rejects(read('pipe'), refusal('bad_arguments', /not an ordinary file/));
  assert.equal(await desk.run('search_files', { pattern: '.', path: 'pipe' }), 'Nothing found.');
});

test('what is missing, a folder, or no ordinary file is said in words', async () => {
  await assert.rejects(read('nowhere.txt'), refusal('failed', /does not exist/));
  await assert.rejects(read('.'), refusal('bad_arguments', /is a folder.*search_files/));
  await assert.rejects(read('a.txt/b'), refusal('failed', /a part of its path is a file/));
});

test('secrets are hidden, and a file that has them cannot be written back whole', async () => {
  await desk.put(join(desk.home, 'config.yaml'), 'model:\n  api_key: hunter22\n');
  const context = desk.context({ sessionId: 'secret' });
  assert.equal(await desk.run('read_file', { path: '~/.hermes/config.yaml' }, { context }), '1|model:\n2|  api_key: ***');
  desk.answers.push({ allowed: true, how: 'once' });
  await assert.rejects(desk.run('write_file', { path: '~/.hermes/config.yaml', content: 'model:\n  api_key: ***\n' }, { context }), refusal('failed', /were hidden when you read it/));
  desk.answers.length = 0;
  desk.answers.push({ allowed: true, how: 'once' }, { allowed: true, how: 'once' });
  await desk.run('patch', { path: '~/.hermes/config.yaml', old_string: 'model:', new_string: 'models:' }, { context });
  await assert.rejects(desk.run('write_file', { path: '~/.hermes/config.yaml', content: 'models: ***' }, { context }), refusal('failed', /were hidden/), 'after a change too');
  desk.answers.length = 0;
});

test('a long result that lies in a file can be read by its own conversation only', async () => {
  await spillResult(`${'x'.repeat(120_000)}\n`, { home: desk.home, sessionId: 'mine', callId: 'c' });
  const folder = resultsFolder(desk.home, 'mine');
  const listing = await desk.run('search_files', { pattern: '*', target: 'files', path: folder }, { context: desk.context({ sessionId: 'mine' }) });
  const part = await desk.run('read_file', { path: listing.split('\n')[0]! }, { context: desk.context({ sessionId: 'mine' }) });
  assert.match(part, /Line 1 goes on/);
  await assert.rejects(desk.run('read_file', { path: listing.split('\n')[0]! }, { context: desk.context({ sessionId: 'theirs' }) }), refusal('unavailable', /another agent or conversation/));
});

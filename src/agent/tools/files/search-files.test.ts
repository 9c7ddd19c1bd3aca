import assert from 'node:assert/strict';
import { mkdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { manualClock } from '../../../lib/clock.ts';
import { newDesk } from './files.test-support.ts';
import type { Desk } from './files.test-support.ts';

let desk: Desk;
before(async () => {
  desk = await newDesk();
  await desk.put('src/a.ts', 'const one = 1;\nconst two = 2;\nconst three = one + two;\n');
  await desk.put('src/b.ts', 'export const Two = 2;\n');
  await desk.put('src/deep/c.md', '# two\n\ntext\n');
  await desk.put('node_modules/x/two.ts', 'const two = 2;\n');
  await desk.put('.git/two.ts', 'const two = 2;\n');
  await desk.put('.gitignore', '[z-a]\nignored/\n*.log\n!keep.log\n/src/gen*.ts\n');
  await desk.put('ignored/two.ts', 'two\n');
  await desk.put('a.log', 'two\n');
  await desk.put('keep.log', 'two\n');
  await desk.put('src/generated.ts', 'two\n');
  await desk.put('src/deep/.gitignore', '*.tmp.md\n');
  await desk.put('src/deep/x.tmp.md', 'two\n');
  await desk.put('picture.png', Buffer.from('\x89PNGtwo', 'latin1'));
  await desk.put('.env', 'two=hunter22\n');
});
after(() => desk[Symbol.asyncDispose]());

let turns = 0;
const search = (args: Record<string, unknown>): Promise<string> => {
  turns += 1;
  return desk.run('search_files', args, { context: desk.context({ turnId: `t${turns}` }) });
};

test('matching lines come below the name of their file, in a fixed order', async () => {
  assert.equal(await search({ pattern: '\\btwo\\b' }), 'keep.log\n1|two\n\nsrc/a.ts\n2|const two = 2;\n3|const three = one + two;\n\nsrc/deep/c.md\n1|# two');
  assert.equal(await search({ pattern: '(?i)TWO', path: 'src/b.ts' }), 'src/b.ts\n1|export const Two = 2;');
  assert.equal(await search({ pattern: 'nowhere to be seen' }), 'Nothing found.');
});

test('what git ignores, libraries, pictures and credentials are left out, unless one searches right there', async () => {
  const found = await search({ pattern: 'two', output_mode: 'files_only' });
  assert.equal(found, 'keep.log\nsrc/a.ts\nsrc/deep/c.md');
  assert.equal(await search({ pattern: 'two', path: 'ignored', output_mode: 'files_only' }), 'ignored/two.ts');
  assert.equal(await search({ pattern: 'two', path: 'node_modules', output_mode: 'files_only' }), 'node_modules/x/two.ts');
  assert.equal(await search({ pattern: 'two', path: 'src', output_mode: 'files_only' }), 'src/a.ts\nsrc/deep/c.md', 'rules of folders above hold');
});

test('lines around a match are marked, and gaps are seen', async () => {
  assert.equal(await search({ pattern: 'one|three', path: 'src/a.ts', context: 1 }), 'src/a.ts\n1|const one = 1;\n2-const two = 2;\n3|const three = one + two;');
  await desk.put('gap.txt', 'a\nb\nc\nd\ne\nf\n');
  assert.equal(await search({ pattern: '^[af]$', path: 'gap.txt', context: 1 }), 'gap.txt\n1|a\n2-b\n--\n5-e\n6|f');
});

test('a search goes on where an earlier one ended', async () => {
  await desk.put('many.txt', Array.from({ length: 7 }, (_, index) => `hit ${index}\n`).join(''));
  assert.equal(await search({ pattern: 'hit', path: 'many.txt', limit: 3 }), 'many.txt\n1|hit 0\n2|hit 1\n3|hit 2\n[There are more. Continue with offset 3.]');
  assert.equal(await search({ pattern: 'hit', path: 'many.txt', limit: 3, offset: 6 }), 'many.txt\n7|hit 6');
  assert.equal(await search({ pattern: 'hit', path: 'many.txt', limit: 3, offset: 7 }), 'Nothing more after offset 7.');
});

test('files can be counted, filtered and found by name, newest first', async () => {
  assert.equal(await search({ pattern: 'const', output_mode: 'count', path: 'src' }), 'src/a.ts: 3\nsrc/b.ts: 1');
  assert.equal(await search({ pattern: 'two', file_glob: '*.{md,txt}' }), 'src/deep/c.md\n1|# two');
  assert.equal(await search({ pattern: 'two', file_glob: 'src/**/*.md', output_mode: 'files_only' }), 'src/deep/c.md');
  await utimes(join(desk.work, 'src/b.ts'), new Date(2_000_000_000_000), new Date(2_000_000_000_000));
  await utimes(join(desk.work, 'src/a.ts'), new Date(1_900_000_000_000), new Date(1_900_000_000_000));
  assert.equal(await search({ pattern: '*.ts', target: 'files' }), 'src/b.ts\nsrc/a.ts');
  assert.equal(await search({ pattern: 'src/DEEP', target: 'files' }), 'Nothing found.');
  assert.equal(await search({ pattern: 'deep/c', target: 'files' }), 'src/deep/c.md');
  assert.equal(await search({ pattern: '*.ts', target: 'files', limit: 1 }), 'src/b.ts\n[There are more (2 in all). Continue with offset 1.]');
});

test('a long line is shown in part, around what was found', async () => {
  await desk.put('min.js', `${'x'.repeat(10_000)}needle${'y'.repeat(10_000)}\n`);
  const found = await search({ pattern: 'needle', path: 'min.js' });
  assert.ok(found.length < 500 && found.includes('xneedley'));
});

test('an answer that would be too long is cut, and can be continued', async () => {
  const small = await newDesk({ maxChars: 200 });
  await small.put('a.txt', `${'word '.repeat(8)}\n`.repeat(20));
  const found = await small.run('search_files', { pattern: 'word' });
  assert.match(found, /\n\[There are more\. Continue with offset (\d)\.\]$/);
  assert.ok(found.length < 300);
  await small[Symbol.asyncDispose]();
});

test('a pattern that is none is refused with advice', async () => {
  await assert.rejects(search({ pattern: 'f(' }), { code: 'bad_arguments', message: /no regular expression.*backslash/ });
  await assert.rejects(search({ pattern: 'x', file_glob: '[z-a]' }), { code: 'bad_arguments', message: /no pattern of file names/ });
  await assert.rejects(search({ pattern: 'x', path: 'no-such-folder' }), { code: 'bad_arguments', message: /does not exist/ });
});

test('a pattern that would never end is stopped when its time is up, and nothing else waits for it', async () => {
  await desk.put('slow/a.txt', `${'a'.repeat(3)}\n`);
  await desk.put('slow/b.txt', `${'a'.repeat(60)}!\n`);
  const clock = manualClock();
  const running = desk.run('search_files', { pattern: '^(a+)+$', path: 'slow' }, { context: desk.context({ clock, turnId: 'slow' }) });
  assert.match(await search({ pattern: 'two', path: 'src' }), /^src\/a\.ts/, 'another search goes on beside it');
  while (clock.waiting() === 0) await new Promise<void>((resolve) => setImmediate(resolve));
  await clock.advance(20_000);
  const found = await running;
  assert.match(found, /^(?:slow\/a\.txt\n1\|aaa\n\[Stopped after 20 seconds|The search was stopped after 20 seconds)/);
});

test('an ended turn ends its search', async () => {
  const stop = new AbortController();
  const running = desk.run('search_files', { pattern: '^(a+)+$', path: 'slow' }, { context: desk.context({ clock: manualClock(), turnId: 'stopped' }), signal: stop.signal });
  stop.abort(new Error('stop'));
  await assert.rejects(running, { message: 'stop' });
});

test('the same search again and again in one turn is refused, another or a later one is not', async () => {
  const again = (turnId: string, pattern = 'one'): Promise<string> => desk.run('search_files', { pattern, path: 'src/a.ts' }, { context: desk.context({ turnId }) });
  for (let count = 0; count < 3; count += 1) await again('same');
  await assert.rejects(again('same'), { code: 'failed', message: /3 times in a row/ });
  await again('same', 'two');
  await again('later');
});

test('secrets are hidden in what is found', async () => {
  await desk.put(join(desk.home, 'config.yaml'), 'api_key: hunter22\n');
  await mkdir(join(desk.home, 'logs'));
  assert.equal(await search({ pattern: 'api_key', path: desk.home }), `${join(desk.home, 'config.yaml')}\n1|api_key: ***`);
});

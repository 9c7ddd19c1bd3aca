import assert from 'node:assert/strict';
import { chmod, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { newSkillBench, skillText } from './skills.test-support.ts';

const names = (bench: { readonly library: { readonly shelf: { readonly skills: readonly { readonly name: string }[] } } }): readonly string[] => bench.library.shelf.skills.map(({ name }) => name);

test('skills are found in their folders and in folders of categories, always in the same order', async () => {
  await using bench = await newSkillBench();
  await bench.shelve('work/review');
  await bench.shelve('alpha');
  await bench.shelve('work/git/rebase');
  await bench.library.reload();
  assert.deepEqual(names(bench), ['alpha', 'rebase', 'review']);
  assert.deepEqual(bench.library.shelf.skills.map(({ category }) => category), [undefined, 'work', 'work']);
  assert.equal(bench.library.find(' Review ')?.folder.endsWith('skills/work/review'), true);
});

test('a home without skills has none', async () => {
  await using bench = await newSkillBench();
  assert.deepEqual(await bench.library.reload(), { added: [], changed: [], removed: [] });
});

test('a reload says what has changed', async () => {
  await using bench = await newSkillBench();
  await bench.shelve('one');
  await bench.shelve('two');
  assert.deepEqual(await bench.library.reload(), { added: ['one', 'two'], changed: [], removed: [] });
  await bench.shelve('two', skillText('two', { body: 'Otherwise.' }));
  await bench.shelve('three');
  await rm(join(bench.home, 'skills', 'one'), { recursive: true });
  assert.deepEqual(await bench.library.reload(), { added: ['three'], changed: ['two'], removed: ['one'] });
});

test('what cannot be used is reported and takes nothing else away', async () => {
  await using bench = await newSkillBench();
  await bench.shelve('good');
  await bench.shelve('bad', 'no yaml');
  await bench.shelve('again/good', skillText('good'));
  await bench.shelve('long', `${skillText('long')}${'x'.repeat(400_000)}`);
  await bench.library.reload();
  assert.deepEqual(names(bench), ['good']);
  assert.deepEqual(bench.library.shelf.broken.map(({ path }) => path.split('/').slice(-3).join('/')).toSorted(), ['skills/bad/SKILL.md', 'skills/good/SKILL.md', 'skills/long/SKILL.md']);
  assert.ok(bench.lines.some((line) => line.includes('skill.broken')));
});

test('links, hidden folders and what lies inside a skill are not looked at', async () => {
  await using bench = await newSkillBench();
  await bench.shelve('.trash/old');
  await bench.shelve('outer');
  await bench.shelve('outer/references/inner');
  await bench.put('elsewhere/secret/SKILL.md', skillText('secret'));
  await symlink(join(bench.home, 'elsewhere'), join(bench.home, 'skills', 'linked'));
  await bench.put('skills/fake/notes.md', 'x');
  await symlink(join(bench.home, 'elsewhere/secret/SKILL.md'), join(bench.home, 'skills/fake/SKILL.md'));
  await bench.library.reload();
  assert.deepEqual(names(bench), ['outer']);
});

test('further folders are read, and the agent’s own skills come first', async () => {
  await using bench = await newSkillBench({ external_dirs: ['~/shared', '/nowhere/at/all'], disabled: ['unwanted'] });
  await bench.put('shared/team/SKILL.md', skillText('team'));
  await bench.put('shared/both/SKILL.md', skillText('both', { description: 'of the others' }));
  await bench.put('shared/unwanted/SKILL.md', skillText('unwanted'));
  await bench.shelve('both');
  await bench.library.reload();
  assert.deepEqual(names(bench), ['both', 'team']);
  assert.deepEqual(bench.library.shelf.skills.map(({ writable }) => writable), [true, false]);
});

test('a folder that may not be read is a reason, not a failure', { skip: process.getuid?.() === 0 || process.platform === 'win32' ? 'everything may be read by root' : false }, async () => {
  await using bench = await newSkillBench();
  await bench.shelve('open');
  await bench.shelve('closed');
  await chmod(join(bench.home, 'skills/closed'), 0);
  await bench.library.reload();
  await chmod(join(bench.home, 'skills/closed'), 0o700);
  assert.deepEqual(names(bench), ['open']);
  assert.match(bench.library.shelf.broken[0]?.reason ?? '', /EACCES/);
});

test('a file in the place of the folder is reported, not fatal', async () => {
  await using bench = await newSkillBench();
  await writeFile(join(bench.home, 'skills'), 'not a folder');
  await bench.library.reload();
  assert.match(bench.library.shelf.broken[0]?.reason ?? '', /ENOTDIR/);
});

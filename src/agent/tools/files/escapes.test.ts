import assert from 'node:assert/strict';
import { link, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newFileAccess } from './file-access.ts';
import { newDesk } from './files.test-support.ts';
import type { Desk } from './files.test-support.ts';
import { holdFolder } from './hold-folder.ts';
import { openFile } from './open-file.ts';
import { stageFile } from './replace-file.ts';

let desk: Desk;
let outside: string;
before(async () => {
  desk = await newDesk();
  outside = join(desk.root, 'outside');
  await desk.put(join(outside, 'secret.txt'), 'the secret\n');
  await desk.put(join(desk.user, '.ssh', 'id_ed25519'), 'private key\n');
  await desk.put(join(desk.user, '.netrc'), 'password\n');
});
after(() => desk[Symbol.asyncDispose]());

/** None of the tools gets at it, by reading, writing, changing or searching. */
const closed = async (path: string, message: RegExp, code = 'unavailable'): Promise<void> => {
  const calls: readonly [string, Record<string, unknown>][] = [
    ['read_file', { path }],
    ['write_file', { path, content: 'evil' }],
    ['patch', { path, old_string: 'secret', new_string: 'evil' }],
    ['search_files', { path, pattern: '.' }],
    ['search_files', { path, pattern: '*', target: 'files' }],
  ];
  for (const [tool, args] of calls) await assert.rejects(desk.run(tool, args), { name: 'ToolError', code, message }, `${tool} ${path}`);
};

test('absolute paths, ~ and .. do not lead out', async () => {
  for (const path of [join(outside, 'secret.txt'), '../../outside/secret.txt', 'a/../../../outside/secret.txt', '~/../outside/secret.txt', '/etc/hosts', '/', '..']) await closed(path, /outside the folders that file tools may use/);
});

test('credentials are closed under every name that leads to them', async () => {
  await symlink(join(desk.user, '.ssh'), join(desk.work, 'keys'));
  await link(join(desk.user, '.ssh', 'id_ed25519'), join(desk.work, 'notes-key.txt'));
  const open = await newDesk({ roots: [desk.user], userHome: desk.user });
  for (const path of ['.ssh/id_ed25519', '.SSH/id_ed25519', '.netrc', 'work/keys/id_ed25519', 'work/../.netrc', 'work/notes-key.txt'].map((name) => join(desk.user, name))) {
    await assert.rejects(open.run('read_file', { path }), { code: 'unavailable' }, path);
    await assert.rejects(open.run('write_file', { path, content: 'x' }), { code: 'unavailable' }, path);
  }
  assert.doesNotMatch(await open.run('search_files', { path: desk.user, pattern: 'private key|password' }), /ssh|netrc|notes-key/);
  assert.doesNotMatch(await open.run('search_files', { path: desk.user, pattern: '*', target: 'files' }), /\.ssh|netrc/);
  assert.equal(await readFile(join(desk.user, '.ssh', 'id_ed25519'), 'utf8'), 'private key\n');
  await open[Symbol.asyncDispose]();
});

test('paths that are none are refused', async () => {
  for (const path of ['', '  ', 'a\0b', 'a\nb', 'file:///etc/passwd', '~root/x', 'x'.repeat(5000), '\uD800']) await closed(path, /The path .* (?:is|has|names)/, 'bad_arguments');
});

test('the machine itself is no file', async () => {
  for (const path of ['/proc/self/environ', '/dev/null', '/dev/stdin', '/sys/kernel', '../../../../../../../../proc/self/mem']) await closed(path, /never touch/);
});

test('a link inside an allowed folder that points out is followed nowhere', async () => {
  await symlink(join(outside, 'secret.txt'), join(desk.work, 'file-link'));
  await symlink(outside, join(desk.work, 'folder-link'));
  await symlink('folder-link', join(desk.work, 'link-to-link'));
  for (const path of ['file-link', 'folder-link/secret.txt', 'link-to-link/secret.txt', 'folder-link/new.txt', 'folder-link/a/b/new.txt']) await closed(path, /outside the folders/);
  assert.equal(await desk.run('search_files', { pattern: 'the secret' }), 'Nothing found.');
  assert.doesNotMatch(await desk.run('search_files', { pattern: '*', target: 'files' }), /secret|link/);
  assert.equal(await readFile(join(outside, 'secret.txt'), 'utf8'), 'the secret\n');
});

test('a link to nothing is not written through, and a circle of links is refused', async () => {
  await symlink(join(outside, 'not-yet.txt'), join(desk.work, 'dangling'));
  await assert.rejects(desk.run('write_file', { path: 'dangling', content: 'x' }), { code: 'failed', message: /link to something that does not exist/ });
  await assert.rejects(readFile(join(outside, 'not-yet.txt')), { code: 'ENOENT' });
  await symlink('round', join(desk.work, 'round'));
  await assert.rejects(desk.run('read_file', { path: 'round' }), { code: 'failed', message: /circle/ });
});

test('a link inside the folder that stays inside is followed', async () => {
  await desk.put('real/a.txt', 'inside\n');
  await symlink(join(desk.work, 'real'), join(desk.work, 'alias'));
  assert.equal(await desk.run('read_file', { path: 'alias/a.txt' }), '1|inside');
});

test('a folder that is allowed by a link to it is allowed where it really is', async () => {
  const real = join(desk.root, 'elsewhere');
  await desk.put(join(real, 'a.txt'), 'there\n');
  await symlink(real, join(desk.root, 'by-link'));
  const open = await newDesk({ roots: [join(desk.root, 'by-link'), join(desk.root, 'missing')] });
  assert.equal(await open.run('read_file', { path: join(desk.root, 'by-link', 'a.txt') }), '1|there');
  assert.match(await open.run('read_file', { path: join(real, 'a.txt') }), /there|not changed/);
  await open[Symbol.asyncDispose]();
});

test('a file that is swapped for a link after the decision is not opened', async () => {
  const path = await desk.put('swap.txt', 'harmless\n');
  const access = await newFileAccess(desk.deps, desk.context());
  const place = await access.locate('swap.txt', 'read');
  await rm(path);
  await symlink(join(outside, 'secret.txt'), path);
  await assert.rejects(access.open(place), { name: 'ToolError', code: 'failed' });
});

test('a folder that is swapped for a link after the decision leads nobody out', async () => {
  await desk.put('swapped/secret.txt', 'harmless\n');
  const folder = join(desk.work, 'swapped');
  const access = await newFileAccess(desk.deps, desk.context());
  const place = await access.locate('swapped/secret.txt', 'read');
  await rename(folder, `${folder}.away`);
  await symlink(outside, folder);
  await assert.rejects(openFile(place.real, 'x'), { code: 'failed', message: /was replaced while it was being opened/ });
  await assert.rejects(holdFolder(folder), { code: 'ENOTDIR' });
  await assert.rejects(stageFile(join(folder, 'new.txt'), Buffer.from('evil'), undefined), { name: 'ToolError' });
  await assert.rejects(readFile(join(outside, 'new.txt')), { code: 'ENOENT' });
});

test('a folder that is swapped between the writing beside and the putting in place leads nobody out', async () => {
  const folder = join(desk.work, 'late-swap');
  await mkdir(folder);
  const staged = await stageFile(join(folder, 'secret.txt'), Buffer.from('new text'), undefined);
  await rename(folder, `${folder}.away`);
  await symlink(outside, folder);
  if (process.platform === 'linux') {
    await staged.commit();
    assert.equal(await readFile(join(`${folder}.away`, 'secret.txt'), 'utf8'), 'new text', 'it lands in the folder that was decided about');
  } else await assert.rejects(staged.commit());
  assert.equal(await readFile(join(outside, 'secret.txt'), 'utf8'), 'the secret\n');
});

test('a working folder that a command went to opens nothing', async () => {
  const gone = await newDesk({ workdir: () => outside });
  await assert.rejects(gone.run('read_file', { path: 'secret.txt' }), { code: 'unavailable', message: /outside the folders/ });
  await gone[Symbol.asyncDispose]();
});

test('a write root holds for writing alone', async () => {
  const narrow = await newDesk({ writeRoot: join(desk.root, 'only-here'), roots: [desk.root], workdir: () => desk.work });
  await assert.rejects(narrow.run('write_file', { path: 'a.txt', content: 'x' }), { code: 'unavailable', message: /the only folder that may be written/ });
  await narrow.run('write_file', { path: join(desk.root, 'only-here', 'a.txt'), content: 'x' });
  await writeFile(join(desk.work, 'b.txt'), 'y');
  assert.equal(await narrow.run('read_file', { path: 'b.txt' }), '1|y');
  await narrow[Symbol.asyncDispose]();
});

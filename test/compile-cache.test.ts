import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = await mkdtemp(join(tmpdir(), 'hermes-compile-cache-'));
after(() => rm(root, { recursive: true }));

/** Where the launcher of a package that cannot be written keeps compiled code. */
const folderOf = async (name: string, prepare: (cache: string) => Promise<unknown>): Promise<{ cache: string; used: string }> => {
  const cache = join(root, name, 'cache');
  await mkdir(join(root, name, 'bin'), { recursive: true });
  await writeFile(join(root, name, 'node_modules'), 'a file, where no folder can be made');
  await writeFile(join(root, name, 'package.json'), '{"type":"module"}');
  await copyFile(fileURLToPath(new URL('../bin/compile-cache.js', import.meta.url)), join(root, name, 'bin', 'compile-cache.js'));
  await prepare(cache);
  const program = `import { openCompileCache } from './bin/compile-cache.js'; import { getCompileCacheDir } from 'node:module'; openCompileCache(); console.log(getCompileCacheDir() ?? 'none');`;
  const used = execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: join(root, name), encoding: 'utf8', env: { HOME: join(root, name), XDG_CACHE_HOME: cache, TMPDIR: root } });
  return { cache, used: used.trim() };
};

test('compiled code is kept in a folder of the user where the package cannot be written', async () => {
  const { cache, used } = await folderOf('fresh', async () => undefined);
  assert.ok(used.startsWith(join(cache, 'hermes-gateway')), used);
});

test('compiled code is not read from where others could have put it', { skip: process.platform === 'win32' && 'no modes' }, async () => {
  const { used } = await folderOf('open', async (cache) => {
    await mkdir(join(cache, 'hermes-gateway'), { recursive: true });
    await chmod(join(cache, 'hermes-gateway'), 0o777);
  });
  assert.equal(used, 'none');
});

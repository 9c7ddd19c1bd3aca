import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { silentLogger } from '../lib/logger.ts';
import { ensureBuilt } from './ensure-built.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const copied = ['web/index.html', 'web/vite.config.ts', 'web/src', 'web/public', 'src/lib/markdown', 'src/core/message.ts', 'src/core/ids.ts', 'src/platforms/web', 'tsconfig.json', 'package.json'];

test('the page is built when its sources have changed and only then, whoever starts at the same time', { timeout: 600_000 }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-build-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const path of copied) await cp(join(root, path), join(folder, path), { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const seen = join(folder, 'seen.json');
  const config = await readFile(join(folder, 'web/vite.config.ts'), 'utf8');
  await writeFile(join(folder, 'web/vite.config.ts'), `import { writeFileSync } from 'node:fs';\n${config}\nwriteFileSync(${JSON.stringify(seen)}, JSON.stringify(process.env));\n`);
  const environment = { ...process.env, OPENAI_API_KEY: 'sk-planted-1', DATABASE_URL: 'postgres://planted-2' };
  const ensure = () => ensureBuilt({ root: folder, log: silentLogger, environment });
  assert.equal(await ensure(), 'built');
  assert.doesNotMatch(await readFile(seen, 'utf8'), /planted/, 'the build gets no secret');
  assert.equal(await ensure(), 'fresh');
  if (process.platform !== 'win32') assert.equal((await stat(join(folder, 'web/dist'))).mode & 0o777, 0o755, 'whoever runs the gateway can read it');
  const assets = await readdir(join(folder, 'web/dist/assets'));
  const packed = await Promise.all(assets.map(async (name) => gzipSync(await readFile(join(folder, 'web/dist/assets', name))).length));
  assert.ok(packed.reduce((sum, bytes) => sum + bytes, 0) < 60_000, String(packed));
  await writeFile(join(folder, 'web/src/welcome.tsx'), (await readFile(join(folder, 'web/src/welcome.tsx'), 'utf8')).replace('What shall we do?', 'What now?'));
  assert.deepEqual(new Set(await Promise.all([ensure(), ensure()])), new Set(['built']));
  assert.equal(await ensure(), 'fresh');
  assert.deepEqual((await readdir(join(folder, 'web'))).toSorted(), ['dist', 'index.html', 'public', 'src', 'vite.config.ts']);
});

test('no source of the page can turn text into markup', async () => {
  const entries = await readdir(join(root, 'web/src'), { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const text = await readFile(join(entry.parentPath, entry.name), 'utf8');
    assert.equal(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|\beval\b|new Function/.test(text), false, entry.name);
  }
});

test('a package without the sources uses the page it came with, or says that there is none', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-build-'));
  t.after(() => rm(folder, { recursive: true }));
  assert.equal(await ensureBuilt({ root: folder, log: silentLogger, environment: {} }), 'unavailable');
  await mkdir(join(folder, 'web/dist'), { recursive: true });
  await writeFile(join(folder, 'web/dist/index.html'), 'page');
  assert.equal(await ensureBuilt({ root: folder, log: silentLogger, environment: {} }), 'fresh');
});

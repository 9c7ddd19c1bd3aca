import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { newImportReport } from '../import-report.ts';
import { loadOpenclawConfig } from './load-config.ts';

const load = async (files: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) => {
  const outer = await mkdtemp(join(tmpdir(), 'hermes-claw-'));
  const folder = join(outer, 'claw');
  try {
    await writeFile(join(outer, 'outside.json'), '{ secret: 1 }');
    await mkdir(folder);
    await symlink(join(outer, 'outside.json'), join(folder, 'link.json'));
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const report = newImportReport();
    const config = await loadOpenclawConfig(folder, new Map(Object.entries(env)), report);
    return { ...config, left: report.lines.map(({ what, why }) => `${what}: ${why ?? ''}`) };
  } finally {
    await rm(outer, { recursive: true });
  }
};

test('included files are put together, and keys beside them win', async () => {
  const { root, left } = await load({
    'openclaw.json': '{ $include: ["./a.json5", "sub/b.json5"], list: [3], port: 3 }',
    'a.json5': '{ port: 1, list: [1], deep: { x: 1, y: 1 } }',
    'sub/b.json5': '{ list: [2], deep: { $include: "./c.json5", y: 2 } }',
    'sub/c.json5': '{ z: 3 }',
  });
  assert.deepEqual(root, { port: 3, list: [1, 2, 3], deep: { x: 1, z: 3, y: 2 } });
  assert.deepEqual(left, []);
});

test('what lies outside, includes itself, is broken or not there is left, and the rest is read', async () => {
  const { root, left } = await load({ 'openclaw.json': '{ a: { $include: "../outside.json" }, b: { $include: "./link.json" }, c: { $include: "./c.json" }, d: { $include: "./none.json" }, e: { $include: "./e.json" }, f: 1 }', 'c.json': '{ $include: "./c.json", x: 1 }', 'e.json': '{' });
  assert.deepEqual(root, { a: {}, b: {}, c: { x: 1 }, d: {}, e: {}, f: 1 });
  assert.deepEqual(left.toSorted(), ['$include ../outside.json: it lies outside this folder', '$include c.json: it includes itself', '$include e.json: it cannot be read', '$include link.json: it lies outside this folder', '$include none.json: it is not there']);
});

test('variables stand for what .env and the configuration say', async () => {
  const { root, variables } = await load({ 'clawdbot.json': '{ env: { A: "1", vars: { B: "2" } }, x: "${A}-${B}-${C}", y: "$${A}", z: ["${D}"] }' }, { C: '3', OPENCLAW_HOME: '/x', B: '4' });
  assert.deepEqual([root['x'], root['y'], root['z']], ['1-4-3', '${A}', ['${D}']]);
  assert.deepEqual([...variables].toSorted(), [['A', '1'], ['B', '4'], ['C', '3']]);
});

test('a configuration that cannot be read is named', async () => {
  const { root, left } = await load({ 'openclaw.json': '{ a' });
  assert.deepEqual([root, left], [{}, ['openclaw.json: it cannot be read']]);
});

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { pruneLeftovers } from './prune-leftovers.ts';

test('of what is made again and again only the newest stay; what has another name is left alone', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-leftovers-'));
  t.after(() => rm(home, { recursive: true }));
  const two = (i: number): string => String(i).padStart(2, '0');
  const forms: readonly ((i: number) => string)[] = [
    (i) => `backups/replaced-20261115T1012${two(i)}123Z/gateway.db`,
    (i) => `replaced-20261115T1012${two(i)}123Z/gateway.db`,
    (i) => `backups/config-20261115T1012${two(i)}123Z.yaml`,
    (i) => `config.yaml.20261115-1012${two(i)}.bak`,
    (i) => `.env.20261115-1012${two(i)}.bak`,
    (i) => `logs/report.20261115.1012${two(i)}.77.0.001.json`,
    (i) => `logs/stuck.2026-11-15T1012${two(i)}123Z.txt`,
  ];
  const mine = ['config.yaml', 'config.yaml.mine.bak', '.env', 'logs/audit.log', 'backups/config-mine.yaml', 'backups/hermes-20261115T101207123Z.tar.gz'];
  const put = async (path: string): Promise<void> => {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), '');
  };
  for (const path of [...mine, ...forms.flatMap((form) => Array.from({ length: 12 }, (_, i) => form(i)))]) await put(path);
  assert.equal(await pruneLeftovers(home, { nowMs: Date.now(), signal: new AbortController().signal }), 2 * 9 + 5 * 2);
  const files = (await readdir(home, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(home.length + 1));
  const newest = (form: (i: number) => string, count: number): readonly string[] => Array.from({ length: count }, (_, i) => form(12 - count + i));
  assert.deepEqual(files.toSorted(), [...mine, ...forms.flatMap((form, i) => newest(form, i < 2 ? 3 : 10))].toSorted());
});

test('what a killed process has not got to its name goes after an hour, not while somebody may be writing it', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-leftovers-'));
  t.after(() => rm(home, { recursive: true }));
  for (const name of ['.env.0123456789ab.tmp', '.env.mine.tmp', '.config.yaml.ba9876543210.tmp']) await writeFile(join(home, name), '');
  const hourAgo = new Date(Date.now() - 2 * 3_600_000);
  for (const name of ['.env.0123456789ab.tmp', '.env.mine.tmp']) await utimes(join(home, name), hourAgo, hourAgo);
  assert.equal(await pruneLeftovers(home, { nowMs: Date.now(), signal: new AbortController().signal }), 1);
  assert.deepEqual((await readdir(home)).toSorted(), ['.config.yaml.ba9876543210.tmp', '.env.mine.tmp']);
});

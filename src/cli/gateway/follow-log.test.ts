import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { followLog, readLog } from './follow-log.ts';

test('older files come first', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-log-'));
  try {
    const path = join(folder, 'gateway.log');
    await writeFile(`${path}.2`, 'a\n');
    await writeFile(`${path}.1`, 'b\n');
    await writeFile(path, 'c\nd\n');
    assert.deepEqual(await readLog(path, 3), ['a', 'b', 'c', 'd']);
    assert.deepEqual(await readLog(join(folder, 'other.log'), 3), []);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('what is written is seen line by line, also across two writes and in the file that follows', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-log-'));
  const path = join(folder, 'gateway.log');
  const end = new AbortController();
  const seen: string[] = [];
  let waiting: { count: number; resolve(): void } | undefined;
  const until = (count: number): Promise<void> => new Promise((resolve) => (seen.length >= count ? resolve() : (waiting = { count, resolve })));
  await writeFile(path, 'before\n');
  const following = followLog(
    path,
    (line) => {
      seen.push(line);
      if (waiting !== undefined && seen.length >= waiting.count) waiting.resolve();
    },
    end.signal,
  );
  try {
    await appendFile(path, 'one\ntw');
    await until(1);
    await appendFile(path, 'o\n');
    await until(2);
    await rename(path, `${path}.1`);
    await writeFile(path, 'three\n');
    await until(3);
    assert.deepEqual(seen, ['one', 'two', 'three']);
  } finally {
    end.abort();
    await following;
    await rm(folder, { recursive: true, force: true });
  }
});

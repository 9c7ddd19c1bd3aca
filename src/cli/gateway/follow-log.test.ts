import assert from 'node:assert/strict';
import fs, { renameSync, writeFileSync, appendFileSync } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { appendFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openLogFile } from '../../lib/log-file.ts';
import { followLog, readLog } from './follow-log.ts';

test('older files come first', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-log-'));
  try {
    const path = join(folder, 'gateway.log');
    await writeFile(`${path}.2`, 'a\n');
    await writeFile(`${path}.1`, 'b\n');
    await writeFile(path, 'c\nd\n');
    assert.deepEqual(await readLog({ path, keep: 3 }), ['a', 'b', 'c', 'd']);
    assert.deepEqual(await readLog({ path: join(folder, 'other.log'), keep: 3 }), []);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('files that are moved on while they are read lose no line, and give none twice', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-log-'));
  try {
    const path = join(folder, 'gateway.log');
    await writeFile(`${path}.1`, 'a\n');
    await writeFile(path, 'b\n');
    const reading = readLog({ path, keep: 3 });
    renameSync(`${path}.1`, `${path}.2`);
    renameSync(path, `${path}.1`);
    writeFileSync(path, 'c\n');
    assert.deepEqual(await reading, ['a', 'b', 'c']);
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
    { path, keep: 3 },
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

/** The first so many lines that are seen of a log in a folder of its own. */
const followed = async (count: number, write: (path: string) => void | Promise<void>): Promise<readonly string[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-log-'));
  const path = join(folder, 'gateway.log');
  const end = new AbortController();
  const seen: string[] = [];
  const done = Promise.withResolvers<void>();
  await writeFile(path, 'before\n');
  const following = followLog(
    { path, keep: 3 },
    (line) => {
      seen.push(line);
      if (seen.length === count) done.resolve();
    },
    end.signal,
  );
  try {
    await write(path);
    await done.promise;
    return seen;
  } finally {
    end.abort();
    await following;
    await rm(folder, { recursive: true, force: true });
  }
};

test('nothing is missed when the file is moved away twice between two looks', async () => {
  const seen = await followed(5, (path) => {
    appendFileSync(path, 'one\ntwo\n');
    renameSync(path, `${path}.1`);
    writeFileSync(path, 'three\nfour\n');
    renameSync(`${path}.1`, `${path}.2`);
    renameSync(path, `${path}.1`);
    writeFileSync(path, 'five\n');
  });
  assert.deepEqual(seen, ['one', 'two', 'three', 'four', 'five']);
});

test('what is still on its way into a file when that is moved away is seen, too', async () => {
  const lines = Array.from({ length: 40 }, (_none, i) => `line ${i} ${'x'.repeat(40)}`);
  const seen = await followed(lines.length, async (path) => {
    const file = openLogFile(path, { maxBytes: 800, keep: 3 });
    for (const line of lines) {
      file.write(`${line}\n`);
      if (line.startsWith('line 1')) await new Promise((resolve) => setImmediate(resolve));
    }
    await file.close();
  });
  assert.deepEqual(seen.toSorted(), lines.toSorted());
});

test('a folder that cannot be watched any more ends the following with its error, and not the process', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-log-'));
  const watch = t.mock.method(fs, 'watch');
  syncBuiltinESMExports();
  try {
    const following = followLog({ path: join(folder, 'gateway.log'), keep: 3 }, () => undefined, new AbortController().signal);
    (watch.mock.calls[0]?.result as FSWatcher | undefined)?.emit('error', new Error('the folder is gone'));
    await assert.rejects(following, /the folder is gone/);
  } finally {
    watch.mock.restore();
    syncBuiltinESMExports();
    await rm(folder, { recursive: true });
  }
});

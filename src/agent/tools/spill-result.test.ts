import assert from 'node:assert/strict';
import { mkdtemp, readFile, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pruneSpilledResults, resultsFolder, spillResult } from './spill-result.ts';

let root: string;
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'hermes-results-'));
});
after(() => rm(root, { recursive: true }));

const signal = new AbortController().signal;
const pathIn = (result: string): string => /All of it is in (\S+):/.exec(result)?.[1] ?? '';

test('a result that fits is left as it is and written nowhere', async () => {
  const home = join(root, 'small');
  assert.equal(await spillResult('x'.repeat(100_000), { home, sessionId: 's', callId: 'c' }), 'x'.repeat(100_000));
  await assert.rejects(readdir(home), { code: 'ENOENT' });
});

test('a result that is too long is kept whole in a file of its conversation, and its beginning and end are shown', async () => {
  const home = join(root, 'long');
  const text = `begin ${'ä'.repeat(150_000)} end`;
  const shown = await spillResult(text, { home, sessionId: '20260101_000000_abcdef01', callId: 'call_1' });
  assert.ok(shown.length < 11_000 && shown.includes('\nbegin ä') && shown.endsWith('ä end'));
  const path = pathIn(shown);
  assert.ok(path.startsWith(join(resultsFolder(home, '20260101_000000_abcdef01'), 'call_1-')));
  assert.equal(await readFile(path, 'utf8'), text);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test('ids that others chose cannot name another folder', async () => {
  const home = join(root, 'ids');
  const path = pathIn(await spillResult('x'.repeat(300), { home, sessionId: '../../etc', callId: '../a/b', maxChars: 250 }));
  assert.equal(path.slice(home.length).split('/').length, 5);
  assert.ok(path.startsWith(join(home, 'cache', 'results', '______etc', '___a_b-')));
});

test('a result never grows beyond its limit, and one that cannot be kept is cut', async () => {
  const home = join(root, 'a-file');
  await writeFile(home, '');
  const shown = await spillResult('x'.repeat(5000), { home, sessionId: 's', callId: 'c', maxChars: 1000 });
  assert.match(shown, /could not be kept in a file \(ENOTDIR\)/);
  assert.ok(shown.length <= 1000 && shown.endsWith('x'));
  const kept = await spillResult('x'.repeat(5000), { home: join(root, 'limit'), sessionId: 's', callId: 'c', maxChars: 1000 });
  assert.ok(kept.length <= 1000);
});

test('old results go, then the oldest until the rest fits; empty folders go too', async () => {
  const home = join(root, 'prune');
  const nowMs = Date.UTC(2026, 0, 10);
  const write = async (sessionId: string, ageMs: number): Promise<string> => {
    const path = pathIn(await spillResult('x'.repeat(1000), { home, sessionId, callId: 'c', maxChars: 500 }));
    await utimes(path, new Date(nowMs - ageMs), new Date(nowMs - ageMs));
    return path;
  };
  await write('old', 101);
  await write('b', 50);
  const young = await write('b', 10);
  const younger = await write('b', 5);
  assert.equal(await pruneSpilledResults(home, { maxAgeMs: 100, maxBytes: 10_000 }, { nowMs, signal }), 1);
  assert.deepEqual(await readdir(join(home, 'cache', 'results')), ['b']);
  assert.equal(await pruneSpilledResults(home, { maxAgeMs: 100, maxBytes: 2000 }, { nowMs, signal }), 1);
  assert.deepEqual((await readdir(resultsFolder(home, 'b'))).toSorted(), [young, younger].map((path) => path.split('/').at(-1)).toSorted());
  assert.equal(await pruneSpilledResults(join(root, 'nowhere'), { maxAgeMs: 1, maxBytes: 1 }, { nowMs, signal }), 0);
});

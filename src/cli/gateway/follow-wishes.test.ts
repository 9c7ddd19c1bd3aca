import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sampleTarget } from '../../../test/support/samples.ts';
import { manualClock } from '../../lib/clock.ts';
import { capturingLogger, silentLogger } from '../../lib/logger.ts';
import type { Logger } from '../../lib/logger.ts';
import { noUsage } from '../../core/transcript.ts';
import { openStore } from '../../store/open.ts';
import { finishTurn, startTurn } from '../../store/sessions/turns.ts';
import { leaveWish } from './end-wish.ts';
import { untilWished } from './follow-wishes.ts';

const pid = 4711;

const newScene = async (log: Logger = silentLogger) => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-wish-'));
  const clock = manualClock();
  const store = await openStore({ path: join(home, 'gateway.db'), clock, log: silentLogger, checkIntegrity: false });
  const over = new AbortController();
  const wished: { end?: string | undefined } = {};
  const followed = untilWished({ home, pid, store, clock, log, signal: over.signal }).then((end) => (wished.end = end));
  return {
    home,
    begin: () => store.write((tx) => startTurn(tx, { sessionId: 's1', lane: 'turn:s1', target: sampleTarget() })),
    finish: (id: number) => store.write((tx) => finishTurn(tx, id, { state: 'done', reason: 'completed', error: null, model: null, usage: noUsage })),
    /** What was wanted, once it has looked again. */
    async look(ms = 1000): Promise<string | undefined> {
      await clock.advance(ms);
      while (wished.end === undefined && clock.waiting() === 0) await new Promise((resolve) => setImmediate(resolve));
      return wished.end;
    },
    async [Symbol.asyncDispose]() {
      over.abort();
      await followed;
      await store.close();
      await rm(home, { recursive: true });
    },
  };
};

test('a wish without a turn is followed at once; one for somebody else, or of long ago, is dropped', async () => {
  await using scene = await newScene();
  const file = join(scene.home, '.gateway-after-turn.json');
  for (const other of [{ pid: pid + 1, at_ms: Date.now() }, { pid, at_ms: Date.now() - 120_000 }]) {
    await writeFile(file, JSON.stringify({ end: 'stop', ...other }));
    assert.equal(await scene.look(), undefined);
    assert.equal(existsSync(file), false);
  }
  await leaveWish(scene.home, pid, { end: 'stop' });
  assert.equal(await scene.look(), 'stop');
});

test('a wish waits for the end of its turn, and a later one takes its place', async () => {
  await using scene = await newScene();
  const { id } = await scene.begin();
  await leaveWish(scene.home, pid, { end: 'restart', turnId: id });
  assert.equal(await scene.look(), undefined);
  await leaveWish(scene.home, pid, { end: 'stop', turnId: id });
  assert.equal(await scene.look(), undefined);
  await scene.finish(id);
  assert.equal(await scene.look(), 'stop');
});

test('what cannot be read is said at once, and then ever more rarely', async () => {
  const { log, lines } = capturingLogger();
  await using scene = await newScene(log);
  await mkdir(join(scene.home, '.gateway-after-turn.json'));
  for (let look = 1; look <= 20; look += 1) await scene.look(500);
  assert.deepEqual(lines.map((line) => (JSON.parse(line) as { msg: string; failures: number })).map(({ msg, failures }) => [msg, failures]), [1, 2, 4, 8, 16].map((failures) => ['gateway.wish_not_read', failures]));
});

test('a turn that does not end keeps nobody for longer than ten minutes', async () => {
  await using scene = await newScene();
  const { id } = await scene.begin();
  await leaveWish(scene.home, pid, { end: 'restart', turnId: id });
  assert.equal(await scene.look(), undefined);
  assert.equal(await scene.look(590_000), undefined);
  assert.equal(await scene.look(20_000), 'restart');
});

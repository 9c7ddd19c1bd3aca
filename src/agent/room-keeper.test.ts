import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelError } from '../core/errors.ts';
import { noUsage } from '../core/transcript.ts';
import type { TranscriptMessage } from '../core/transcript.ts';
import { manualClock } from '../lib/clock.ts';
import type { ShortenRequest, TurnRoom } from './contract.ts';
import { newRoomKeeper } from './room-keeper.ts';
import { watchTurn } from './turn-watch.ts';
import type { TurnWatch } from './turn-watch.ts';

const said = (content: string): TranscriptMessage => ({ role: 'user', content });

const watching = (signal = new AbortController().signal): TurnWatch => watchTurn({ clock: manualClock(), limits: { activityMs: 1000, totalMs: 1000 }, signal });

/** A room of 100 tokens that leaves the last row, as often as it is told to. */
const shrinking = (times: number): { readonly room: TurnRoom; readonly rows: TranscriptMessage[]; readonly requests: ShortenRequest[] } => {
  const rows = [said('one'), said('two')];
  const requests: ShortenRequest[] = [];
  const room: TurnRoom = {
    tokens: 60,
    limitTokens: 100,
    shorten: async (request) => {
      requests.push(request);
      return requests.length > times ? undefined : { transcript: rows.slice(-1), tokens: 20 };
    },
  };
  return { room, rows, requests };
};

test('a transcript that has grown over the limit is shortened before it is sent', async () => {
  const { room, rows, requests } = shrinking(9);
  const keeper = newRoomKeeper(rows, room, watching());
  await keeper.prepare();
  assert.equal(requests.length, 0);
  rows.push(said('x'.repeat(160)));
  await keeper.prepare();
  assert.deepEqual(requests, [{ tokens: 110, refused: false, windowTokens: undefined }]);
  assert.equal(rows.length, 1);
  await keeper.prepare();
  assert.equal(requests.length, 1, 'what is left is known to fit');
});

test('what the model counted decides', async () => {
  const { room, rows, requests } = shrinking(9);
  const keeper = newRoomKeeper(rows, room, watching());
  keeper.answered({ ...noUsage, inputTokens: 101 });
  await keeper.prepare();
  assert.equal(requests.length, 1);
});

test('when nothing can be gained, it is not asked for again', async () => {
  const { room, rows, requests } = shrinking(0);
  const keeper = newRoomKeeper(rows, { ...room, tokens: 500 }, watching());
  await keeper.prepare();
  await keeper.prepare();
  assert.equal(requests.length, 1);
  assert.equal(rows.length, 2);
});

test('a request that the model found too long is made again, shorter; any other failure stands', async () => {
  const { room, rows, requests } = shrinking(1);
  const keeper = newRoomKeeper(rows, room, watching());
  assert.equal(await keeper.shortenedAfter(new ModelError('server_error', 'x')), false);
  assert.equal(await keeper.shortenedAfter(new Error('x')), false);
  assert.equal(await keeper.shortenedAfter(new ModelError('context_overflow', 'x', { windowTokens: 50 })), true);
  assert.deepEqual(requests, [{ tokens: 60, refused: true, windowTokens: 50 }]);
  assert.equal(await keeper.shortenedAfter(new ModelError('payload_too_large', 'x')), false);
});

test('without a room nothing is shortened', async () => {
  const rows = [said('x'.repeat(1_000_000))];
  const keeper = newRoomKeeper(rows, undefined, watching());
  await keeper.prepare();
  assert.equal(await keeper.shortenedAfter(new ModelError('context_overflow', 'x')), false);
  assert.equal(rows.length, 1);
});

test('a turn that is ended does not wait for a summary', async () => {
  const stop = new AbortController();
  const room: TurnRoom = { tokens: 500, limitTokens: 100, shorten: () => new Promise(() => undefined) };
  const watch = watching(stop.signal);
  const prepared = newRoomKeeper([said('a')], room, watch).prepare();
  stop.abort({ kind: 'stopped' });
  await assert.rejects(prepared, { ending: 'stopped' });
  watch.close();
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { manualClock } from '../../lib/clock.ts';
import { eventStream } from './event-stream.ts';
import type { Frame, StreamOptions } from './event-stream.ts';

const open = async (frames: AsyncGenerator<Frame, void, undefined>, wishes: Partial<StreamOptions> = {}) => {
  const clock = manualClock();
  const app = new Hono().get('/', (c) => eventStream(c, frames, { clock, keep: false, ...wishes }));
  const response = await app.request('/');
  const reader = response.body!.getReader();
  const next = async (): Promise<string | undefined> => {
    const { value } = await reader.read();
    return value === undefined ? undefined : new TextDecoder().decode(value);
  };
  return { clock, response, next, leave: () => reader.cancel() };
};

test('frames go out as they come, with their name and number', async () => {
  const read = Promise.withResolvers<void>();
  async function* frames(): AsyncGenerator<Frame, void, undefined> {
    yield { data: { a: 1 } };
    await read.promise;
    yield { data: 'x', event: 'named', id: 7 };
  }
  const { response, next } = await open(frames());
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  assert.equal(await next(), 'data: {"a":1}\n\n');
  read.resolve();
  assert.equal(await next(), 'id: 7\nevent: named\ndata: x\n\n');
  assert.equal(await next(), undefined);
});

test('frames that are there together are written together, and none is lost to a failure behind it', async () => {
  const read = Promise.withResolvers<void>();
  async function* frames(): AsyncGenerator<Frame, void, undefined> {
    yield { data: 1 };
    yield { data: 2 };
    await read.promise;
    yield { data: 3 };
    throw new Error('broken');
  }
  const { next } = await open(frames());
  assert.equal(await next(), 'data: 1\n\ndata: 2\n\n');
  read.resolve();
  assert.equal(await next(), 'data: 3\n\n');
  await assert.rejects(next(), /broken/);
});

test('frames that wait for something are told that nobody reads them any more', async () => {
  const gone = Promise.withResolvers<void>();
  let ended = false;
  async function* frames(): AsyncGenerator<Frame, void, undefined> {
    try {
      yield { data: 1 };
      await gone.promise;
    } finally {
      ended = true;
    }
  }
  const { next, leave } = await open(frames(), { onGone: gone.resolve });
  await next();
  await leave();
  assert.equal(ended, true);
});

test('a stream that has nothing to say says so at least every ten seconds', async () => {
  const late = Promise.withResolvers<Frame>();
  async function* frames(): AsyncGenerator<Frame, void, undefined> {
    yield await late.promise;
  }
  const { clock, next } = await open(frames());
  for (let i = 0; i < 3; i += 1) {
    const comment = next();
    await clock.advance(9_999);
    assert.equal(await comment, ': keepalive\n\n');
  }
  late.resolve({ data: 'at last' });
  // One that was on its way already may come first.
  const texts = [await next(), await next()];
  assert.ok(texts.includes('data: at last\n\n'));
});

test('when the reader goes away the frames are ended, or made to their end where they are to be kept', async () => {
  const made: number[] = [];
  async function* frames(): AsyncGenerator<Frame, void, undefined> {
    for (let i = 0; i < 20; i += 1) {
      made.push(i);
      yield { data: i };
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    }
  }
  const left = await open(frames());
  await left.next();
  await left.leave();
  assert.ok(made.length < 20);
  made.length = 0;
  const kept = await open(frames(), { keep: true });
  await kept.next();
  await kept.leave();
  assert.equal(made.length, 20);
});

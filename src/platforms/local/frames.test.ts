import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeFrame, FrameTooLong, readLines } from './frames.ts';
import { parseClientFrame } from './parse.ts';
import { maxInboundLength } from './wire.ts';

async function* stream(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

const read = async (pieces: readonly Uint8Array[], maxBytes = 1000): Promise<string[]> => {
  const lines: string[] = [];
  for await (const line of readLines(stream(pieces), maxBytes)) lines.push(line);
  return lines;
};

test('frames come out whole wherever their bytes are cut, also inside a character', async () => {
  const frames = [{ type: 'say', text: 'Grüße\nan 世界 👩‍👩‍👧' }, { type: 'seen' }, { text: '' }];
  const bytes = Buffer.from(frames.map(encodeFrame).join(''));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 8 }), async (cuts) => {
      const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
      const lines = await read(places.slice(1).map((end, i) => bytes.subarray(places[i], end)));
      assert.deepEqual(lines.map((line) => JSON.parse(line) as unknown), frames);
    }),
  );
});

test('a frame that is broken off was never sent', async () => {
  assert.deepEqual(await read([Buffer.from('{"a":1}\n{"b":')]), ['{"a":1}']);
});

test('a line that is too long is refused, in one piece or in many, and one at the limit is not', async () => {
  assert.deepEqual(await read([Buffer.from(`${'x'.repeat(10)}\n`)], 10), ['x'.repeat(10)]);
  await assert.rejects(read([Buffer.from(`${'x'.repeat(11)}\n`)], 10), FrameTooLong);
  await assert.rejects(read(Array.from({ length: 11 }, () => Buffer.from('x')), 10), FrameTooLong);
});

test('what terminals send is checked: known frames pass, unknown ones are ignored, broken ones are called so', () => {
  const parse = (frame: unknown) => parseClientFrame(JSON.stringify(frame));
  const say = { type: 'say', id: '12345678', text: 'hi' };
  assert.deepEqual(parse(say), { type: 'frame', frame: say });
  assert.deepEqual(parse({ type: 'hello', version: 1, chat: 'abc', after: 3, later: true }), { type: 'frame', frame: { type: 'hello', version: 1, chat: 'abc', after: 3 } });
  assert.deepEqual(parse({ type: 'dance' }), { type: 'unknown' });
  assert.deepEqual(parse({ type: 'constructor' }), { type: 'unknown' });
  for (const broken of [null, 7, [], 'x']) assert.notEqual(parse(broken).type, 'frame');
  assert.deepEqual(parseClientFrame('{no json'), { type: 'malformed' });
  assert.deepEqual(parse({ type: 'hello', version: 1, chat: '../x' }), { type: 'malformed' });
  for (const text of ['', ' \n', 'x'.repeat(maxInboundLength + 1)]) assert.deepEqual(parse({ ...say, text }), { type: 'malformed', id: say.id });
  assert.deepEqual(parse({ ...say, id: 'short' }), { type: 'malformed' });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { newSseParser, readSse, SseTooLarge } from './sse.ts';
import type { SseEvent } from './sse.ts';

const limits = { maxEventChars: 10_000, maxBytes: 1_000_000 };

const parseAll = (pieces: readonly string[]): { events: SseEvent[]; leftover: SseEvent | undefined } => {
  const parser = newSseParser(limits.maxEventChars);
  const events = pieces.flatMap((piece) => [...parser.push(piece)]);
  return { events, leftover: parser.end() };
};

const bodyOf = (chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(source) {
      for (const chunk of chunks) source.enqueue(chunk);
      source.close();
    },
  });

const readAll = async (chunks: readonly Uint8Array[], signal = new AbortController().signal): Promise<SseEvent[]> => {
  const events: SseEvent[] = [];
  for await (const batch of readSse(bodyOf(chunks), { ...limits, signal })) events.push(...batch.events);
  return events;
};

const data = (...values: string[]): SseEvent[] => values.map((value) => ({ name: 'message', data: value }));

test('LF, CR and CRLF end a line alike', () => {
  for (const eol of ['\n', '\r', '\r\n']) {
    assert.deepEqual(parseAll([`data: a${eol}${eol}data: b${eol}${eol}`]).events, data('a', 'b'), JSON.stringify(eol));
  }
});

test('a CRLF split between two pieces is one line end', () => {
  assert.deepEqual(parseAll(['data: a\r', '\n\r', '\ndata: b\r', '\n', '\r\n']).events, data('a', 'b'));
});

test('comments, unknown fields, retry and ids are passed over', () => {
  assert.deepEqual(parseAll([': OPENROUTER PROCESSING\n\nid: 7\nretry: 10\nfoo: bar\nnonsense\ndata: a\n\n']).events, data('a'));
});

test('data lines of one event are joined with a line feed, and one space after the colon is dropped', () => {
  assert.deepEqual(parseAll(['data:a\ndata:  b\ndata\n\n']).events, data('a\n b\n'));
});

test('the event field names the event and is forgotten after it', () => {
  assert.deepEqual(parseAll(['event: error\ndata: a\n\ndata: b\n\n']).events, [{ name: 'error', data: 'a' }, ...data('b')]);
});

test('an event without its blank line is handed over apart from the others', () => {
  const { events, leftover } = parseAll(['data: a\n\ndata: [DONE]']);
  assert.deepEqual(events, data('a'));
  assert.deepEqual(leftover, { name: 'message', data: '[DONE]' });
});

const line = fc.oneof(
  fc.constantFrom('', '', 'data: x', 'data:{"a":1}', 'data', ': note', 'event: e', 'id: 1', 'datas: no', ':'),
  fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => `data: ${text.replaceAll(/[\r\n]/g, '')}`),
);
const stream = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 30 });

test('how the bytes are cut never changes the events', async () => {
  await fc.assert(
    fc.asyncProperty(stream, fc.array(fc.nat(400), { maxLength: 12 }), async (lines, cuts) => {
      // A bare CR before an empty line ended by LF would read as CRLF, in one piece as well as in many.
      const text = lines.map(([content, eol]) => content + eol).join('');
      const bytes = Buffer.from(text);
      const positions = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).toSorted((a, b) => a - b), bytes.length];
      const chunks = positions.slice(1).map((end, index) => bytes.subarray(positions[index], end));
      assert.deepEqual(await readAll(chunks), await readAll([bytes]));
    }),
    { numRuns: 300 },
  );
});

test('the events are those of a parser that follows the standard line by line', () => {
  fc.assert(
    fc.property(stream, (lines) => {
      const text = lines.map(([content, eol]) => content + eol).join('');
      const expected: SseEvent[] = [];
      let name = '';
      let values: string[] = [];
      for (const each of text.split(/\r\n|\n|\r/).slice(0, -1)) {
        if (each === '') {
          if (values.length > 0) expected.push({ name: name || 'message', data: values.join('\n') });
          [name, values] = ['', []];
        }
        const match = /^([^:]+):? ?(.*)$/su.exec(each);
        if (match?.[1] === 'data') values.push(match[2]!);
        if (match?.[1] === 'event') name = match[2]!;
      }
      assert.deepEqual(parseAll([text]).events, expected);
    }),
  );
});

test('a byte order mark is dropped and characters split between chunks stay whole', async () => {
  const bytes = Buffer.from('\uFEFFdata: grüß 👋🏽\n\n');
  const single = [...bytes].map((byte) => Uint8Array.of(byte));
  assert.deepEqual(await readAll(single), data('grüß 👋🏽'));
});

test('an endless line, an endless event and an endless body are refused', async () => {
  const parser = newSseParser(100);
  assert.throws(() => {
    for (let i = 0; i < 20; i += 1) parser.push('x'.repeat(10));
  }, SseTooLarge);
  const other = newSseParser(100);
  assert.throws(() => {
    for (let i = 0; i < 20; i += 1) other.push(`data: ${'x'.repeat(10)}\n`);
  }, SseTooLarge);
  const comment = Buffer.from(`: ${'x'.repeat(1000)}\n`);
  await assert.rejects(readAll(Array.from({ length: 2000 }, () => comment)), SseTooLarge);
});

test('an abort ends the reading at once, although the body ignores being cancelled', async () => {
  const controller = new AbortController();
  const reason = { kind: 'stopped' };
  const silent = new ReadableStream<Uint8Array>({
    start: (source) => source.enqueue(Buffer.from('data: a\n\n')),
    pull: () => new Promise<void>(() => undefined),
    cancel: () => new Promise<void>(() => undefined),
  });
  const batches = readSse(silent, { ...limits, signal: controller.signal });
  assert.deepEqual((await batches.next()).value, { events: data('a'), last: false });
  const next = batches.next();
  controller.abort(reason);
  await assert.rejects(next, (error) => error === reason);
});

test('leaving the loop cancels the body', async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (source) => source.enqueue(Buffer.from('data: a\n\n')),
    cancel: () => {
      cancelled = true;
    },
  });
  for await (const batch of readSse(body, { ...limits, signal: new AbortController().signal })) {
    assert.equal(batch.events.length, 1);
    break;
  }
  assert.ok(cancelled);
});

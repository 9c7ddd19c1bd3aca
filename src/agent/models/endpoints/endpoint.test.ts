import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ConfigError } from '../../../core/errors.ts';
import type { ModelErrorCode } from '../../../core/errors.ts';
import { manualClock } from '../../../lib/clock.ts';
import type { Clock } from '../../../lib/clock.ts';
import { chunkOf, chunks, json, newChatSimulator, raw, says, usageChunk } from '../chat-simulator.ts';
import type { Answer, ChatSimulator } from '../chat-simulator.ts';
import { apiKey, ask, elapsing, endpoint, failure, finishOf, never, question, said } from '../conformance.test-support.ts';
import type { ModelProvider } from '../contract.ts';
import type { EndpointOptions } from './endpoint.ts';

let simulator: ChatSimulator;
before(async () => {
  simulator = await newChatSimulator();
});
after(() => simulator[Symbol.asyncDispose]());

const provider = (options: Partial<EndpointOptions> = {}, clock?: Clock): ModelProvider => endpoint({ wire: 'chat', baseUrl: simulator.baseUrl, ...options }, clock);

const event = (chunk: unknown): string => `data: ${JSON.stringify(chunk)}\n\n`;

test('a base address may end in a slash and keep a query; without a key there is no header', async () => {
  simulator.next(says('ok'), says('ok'));
  await ask(provider({ baseUrl: `${simulator.baseUrl}/?api-version=1`, keys: [] }));
  assert.equal(simulator.requests.at(-1)!.path, '/v1/chat/completions?api-version=1');
  assert.equal(simulator.requests.at(-1)!.headers.authorization, undefined);
  await ask(provider());
});

test('calls that follow each other use their connections again', async () => {
  const model = provider();
  const from = simulator.requests.length;
  for (let i = 0; i < 10; i += 1) {
    simulator.next(says('hi'));
    await ask(model);
  }
  // One is still being handed back when the next call wants one.
  assert.ok(new Set(simulator.requests.slice(from).map(({ connection }) => connection)).size <= 2);
});

test('an answer is complete with a finish reason alone, with [DONE] alone, and without the last blank line', async () => {
  const hello = event(chunkOf({ content: 'hi' }));
  simulator.next(
    raw([hello, event(chunkOf({}, 'stop'))]),
    raw([hello, 'data: [DONE]']),
    raw([hello, event(chunkOf({}, 'stop')).trimEnd()]),
    raw([hello, event(chunkOf({}, 'stop'))], { then: 'cut' }),
    raw([hello, event(chunkOf({}, 'stop')), 'data: {"half'], { then: 'end' }),
  );
  for (let i = 0; i < 5; i += 1) {
    const events = await ask(provider());
    assert.equal(said(events), 'hi');
    assert.ok(events.at(-1)?.type === 'finish');
  }
});

test('after the finish reason the usage is waited for, and a connection left open is not', async () => {
  simulator.next(
    raw([event(chunkOf({ content: 'hi' })), event(chunkOf({}, 'stop')), event(usageChunk), 'data: [DONE]\n\n'], { then: 'silence' }),
    raw([event(chunkOf({ content: 'hi' })), 'data: [DONE]\n\n'], { then: 'silence' }),
  );
  const patient = provider({ requestTimeoutMs: 60_000, stallTimeoutMs: 60_000 });
  const finish = (await ask(patient)).at(-1);
  assert.ok(finish?.type === 'finish' && finish.usage.inputTokens === 100);
  assert.equal(said(await ask(patient)), 'hi');
});

const halfRefusal: Answer = (response) => {
  response.writeHead(503, { 'content-length': '100' });
  response.write('x');
  setImmediate(() => response.destroy());
};

const broken: readonly { readonly what: string; readonly answer: Answer; readonly code: ModelErrorCode; readonly text?: string }[] = [
  { what: 'only [DONE]', answer: raw(['data: [DONE]\n\n']), code: 'malformed' },
  { what: 'garbage instead of a stream', answer: raw(['\u0000\u0001 not an event stream\n\n']), code: 'malformed' },
  { what: 'a web page that says it is a stream', answer: raw(['<!doctype html>\n\n<p>data: no</p>\n\n']), code: 'malformed' },
  { what: 'an endless line', answer: raw(Array.from({ length: 90 }, () => 'x'.repeat(50_000))), code: 'malformed' },
  { what: 'an error object in the stream', answer: raw([event(chunkOf({ content: 'a' })), event({ error: { code: 429, message: 'slow down' } })]), code: 'rate_limited' },
  { what: 'an event named error', answer: raw(['event: error\ndata: {"message":"busy","type":"overloaded_error"}\n\n']), code: 'overloaded' },
  { what: 'an event named error without JSON', answer: raw(['event: error\ndata: it broke\n\n']), code: 'server_error' },
  { what: 'an error object in a JSON answer with status 200', answer: json({ error: { message: 'no', code: 'invalid_api_key' } }), code: 'auth' },
  { what: 'a refusal whose explanation breaks off', answer: halfRefusal, code: 'overloaded' },
];

for (const { what, answer, code, text } of broken) {
  test(`${what} is ${code}`, async () => {
    simulator.next(answer);
    const failed = await failure(provider());
    assert.equal(failed.error.code, code, failed.error.message);
    if (text !== undefined) assert.equal(failed.text, text);
  });
}

test('a refused connection and an unknown host are unreachable', async () => {
  assert.equal((await failure(provider({ baseUrl: 'http://127.0.0.1:1/v1' }))).error.code, 'unreachable');
  assert.equal((await failure(provider({ baseUrl: 'http://no-such-host.invalid/v1' }))).error.code, 'unreachable');
});

test('silence after an event is a timeout, and a drip that completes no event is silence', async () => {
  const drip: Answer = async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event(chunkOf({ content: 'par' })));
    response.write('data: ');
    while (!response.destroyed) {
      response.write('x');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  simulator.next(raw([event(chunkOf({ content: 'par' }))], { then: 'silence' }), drip);
  for (let i = 0; i < 2; i += 1) {
    const clock = manualClock();
    const spoken = Promise.withResolvers<void>();
    const stalling = failure(provider({ stallTimeoutMs: 40 }, clock), { onEvent: () => spoken.resolve() });
    await spoken.promise;
    const { error, text } = await elapsing(clock, stalling);
    assert.equal(error.code, 'timeout');
    assert.equal(text, 'par');
  }
});

test('a slow reader is not a silent server', async () => {
  simulator.next(async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const content of ['a', 'b', 'c']) {
      response.write(event(chunkOf({ content })));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    response.end(event(chunkOf({}, 'stop')));
  });
  const seen: string[] = [];
  const clock = manualClock();
  for await (const each of provider({ stallTimeoutMs: 100 }, clock).stream(question, never)) {
    seen.push(each.type);
    await clock.advance(150);
  }
  assert.equal(seen.at(-1), 'finish');
});

test('an answer that is no use does not keep the connection', async () => {
  const closed = Promise.withResolvers<void>();
  simulator.next((response) => {
    response.on('close', () => closed.resolve());
    response.writeHead(200, { 'content-type': 'text/html' });
    response.write('<!doctype html>');
  });
  assert.equal((await failure(provider())).error.code, 'malformed');
  await closed.promise;
});

test('a key with a line end is refused without being shown', () => {
  assert.throws(() => provider({ keys: [`${apiKey}\n`] }), (error) => error instanceof ConfigError && !String(error.stack).includes(apiKey));
});

test('what an endpoint costs is part of the usage: as it says, by the owner’s prices for the name that was asked for, or by the table', async () => {
  const priced = chunks(chunkOf({ content: 'x' }, 'stop'), { ...usageChunk, usage: { ...usageChunk.usage, cost: 0.25 } });
  simulator.next(priced, says('x'), says('x'));
  const cost = async (model: ModelProvider): Promise<unknown> => finishOf(await ask(model)).usage.cost;
  assert.deepEqual(await cost(provider()), { usd: 0.25, status: 'actual' });
  assert.deepEqual(await cost(provider({ prices: { m: { input: 1, output: 2 } } })), { usd: 0.00014, status: 'estimated' });
  assert.equal(await cost(provider()), undefined);
});

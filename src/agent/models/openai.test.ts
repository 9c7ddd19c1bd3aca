import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { LLMock } from '@copilotkit/aimock';
import { ConfigError, ModelError } from '../../core/errors.ts';
import type { ModelErrorCode } from '../../core/errors.ts';
import { systemClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { chunkOf, json, newChatSimulator, raw, says, silence, status, usageChunk } from './chat-simulator.ts';
import type { Answer, ChatSimulator } from './chat-simulator.ts';
import type { ModelEvent, ModelProvider, ModelRequest } from './contract.ts';
import { newOpenAiProvider } from './openai.ts';
import type { OpenAiOptions } from './openai.ts';

const apiKey = 'key-0123456789-very-secret';
const request: ModelRequest = { model: 'm', system: 'Be kind.', messages: [{ role: 'user', content: 'hello' }], tools: [] };

let simulator: ChatSimulator;
before(async () => {
  simulator = await newChatSimulator();
});
after(() => simulator[Symbol.asyncDispose]());

const provider = (options: Partial<OpenAiOptions> = {}): ModelProvider =>
  newOpenAiProvider({ baseUrl: simulator.baseUrl, apiKey, requestTimeoutMs: 5000, stallTimeoutMs: 5000, ...options }, { clock: systemClock, log: silentLogger });

const never = new AbortController().signal;

const ask = (model: ModelProvider, signal = never): Promise<ModelEvent[]> => Array.fromAsync(model.stream(request, signal));

const textOf = (events: readonly ModelEvent[]): string => events.map((event) => (event.type === 'text' ? event.delta : '')).join('');

/** The error of a call that must fail, with the text that came before it. */
const failure = async (model: ModelProvider, signal = never): Promise<{ error: ModelError; text: string }> => {
  const events: ModelEvent[] = [];
  try {
    for await (const event of model.stream(request, signal)) events.push(event);
  } catch (error) {
    assert.ok(error instanceof ModelError, String(error));
    return { error, text: textOf(events) };
  }
  throw new Error('the call did not fail');
};

const event = (chunk: unknown): string => `data: ${JSON.stringify(chunk)}\n\n`;

test('a streamed answer arrives with its usage; the request carries key, prompt and stream options', async () => {
  simulator.next(says('Hello there friend'));
  const events = await ask(provider());
  assert.equal(textOf(events), 'Hello there friend');
  assert.deepEqual(events.at(-1), {
    type: 'finish',
    reason: 'stop',
    toolCalls: [],
    usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 64, cacheWriteTokens: 0, reasoningTokens: 7 },
    model: 'sim-1',
  });
  const seen = simulator.requests.at(-1)!;
  assert.equal(seen.path, '/v1/chat/completions');
  assert.equal(seen.headers.authorization, `Bearer ${apiKey}`);
  assert.equal(seen.body['stream'], true);
  assert.deepEqual(seen.body['stream_options'], { include_usage: true });
});

test('a base address may end in a slash and keep a query; without a key there is no header', async () => {
  simulator.next(says('ok'), says('ok'));
  await ask(newOpenAiProvider({ baseUrl: `${simulator.baseUrl}/?api-version=1`, requestTimeoutMs: 5000, stallTimeoutMs: 5000 }, { clock: systemClock, log: silentLogger }));
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

test('an answer that is not streamed reads the same', async () => {
  simulator.next(json({ model: 'sim-2', choices: [{ message: { role: 'assistant', content: 'whole' }, finish_reason: 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 2 } }));
  const events = await ask(provider());
  assert.equal(textOf(events), 'whole');
  const finish = events.at(-1);
  assert.ok(finish?.type === 'finish' && finish.usage.outputTokens === 2 && finish.model === 'sim-2');
});

test('CRLF, comments, single bytes and split characters make no difference', async () => {
  const text = `: keep-alive\r\n\r\ndata: ${JSON.stringify(chunkOf({ content: 'grüß 👋🏽' }))}\r\n\r\ndata: ${JSON.stringify(chunkOf({}, 'stop'))}\r\n\r\ndata: [DONE]\r\n\r\n`;
  simulator.next(raw([...Buffer.from(text)].map((byte) => Uint8Array.of(byte))));
  assert.equal(textOf(await ask(provider())), 'grüß 👋🏽');
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
    assert.equal(textOf(events), 'hi');
    assert.ok(events.at(-1)?.type === 'finish');
  }
});

test('after the finish reason the usage is waited for, and a connection left open is not', { timeout: 10_000 }, async () => {
  simulator.next(
    raw([event(chunkOf({ content: 'hi' })), event(chunkOf({}, 'stop')), event(usageChunk), 'data: [DONE]\n\n'], { then: 'silence' }),
    raw([event(chunkOf({ content: 'hi' })), 'data: [DONE]\n\n'], { then: 'silence' }),
  );
  const patient = provider({ requestTimeoutMs: 60_000, stallTimeoutMs: 60_000 });
  const finish = (await ask(patient)).at(-1);
  assert.ok(finish?.type === 'finish' && finish.usage.inputTokens === 100);
  assert.equal(textOf(await ask(patient)), 'hi');
});

const halfRefusal: Answer = (response) => {
  response.writeHead(503, { 'content-length': '100' });
  response.write('x');
  setImmediate(() => response.destroy());
};

const broken: readonly { readonly what: string; readonly answer: Answer; readonly code: ModelErrorCode; readonly text?: string }[] = [
  { what: 'a stream that ends in the middle', answer: raw([event(chunkOf({ content: 'par' }))]), code: 'cut_stream', text: 'par' },
  { what: 'a stream that ends in the middle of an event', answer: raw([event(chunkOf({ content: 'par' })), 'data: {"choi']), code: 'cut_stream', text: 'par' },
  { what: 'a connection that breaks', answer: raw([event(chunkOf({ content: 'par' }))], { then: 'cut' }), code: 'cut_stream', text: 'par' },
  { what: 'a connection that breaks before the first event', answer: raw([], { then: 'cut' }), code: 'cut_stream' },
  { what: 'a connection that breaks before the answer', answer: (response) => void response.destroy(), code: 'unreachable' },
  { what: 'an empty stream', answer: raw([]), code: 'malformed' },
  { what: 'an empty JSON body', answer: raw([], { type: 'application/json' }), code: 'malformed' },
  { what: 'only [DONE]', answer: raw(['data: [DONE]\n\n']), code: 'malformed' },
  { what: 'garbage in an event', answer: raw([event(chunkOf({ content: 'a' })), 'data: {"choices": [}\n\n']), code: 'malformed' },
  { what: 'garbage instead of a stream', answer: raw(['\u0000\u0001 not an event stream\n\n']), code: 'malformed' },
  { what: 'garbage instead of JSON', answer: raw(['{"a":'], { type: 'application/json' }), code: 'malformed' },
  { what: 'JSON that is no completion', answer: json({ hello: 'world' }), code: 'malformed' },
  { what: 'a web page with status 200', answer: raw(['<!doctype html><title>Hi</title>'], { type: 'text/html; charset=utf-8' }), code: 'malformed' },
  { what: 'a web page that says it is a stream', answer: raw(['<!doctype html>\n\n<p>data: no</p>\n\n']), code: 'malformed' },
  { what: 'an endless line', answer: raw(Array.from({ length: 90 }, () => 'x'.repeat(50_000))), code: 'malformed' },
  { what: 'an error object in the stream', answer: raw([event(chunkOf({ content: 'a' })), event({ error: { code: 429, message: 'slow down' } })]), code: 'rate_limited' },
  { what: 'an event named error', answer: raw(['event: error\ndata: {"message":"busy","type":"overloaded_error"}\n\n']), code: 'overloaded' },
  { what: 'an event named error without JSON', answer: raw(['event: error\ndata: it broke\n\n']), code: 'server_error' },
  { what: 'an error object in a JSON answer with status 200', answer: json({ error: { message: 'no', code: 'invalid_api_key' } }), code: 'auth' },
  { what: 'a redirect', answer: status(302, '', { location: 'http://127.0.0.1:1/' }), code: 'bad_request' },
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

test('silence before the first event is a timeout, also when the headers came', async () => {
  simulator.next(silence, raw([], { then: 'silence' }), raw([': waiting\n\n'], { then: 'silence' }));
  for (let i = 0; i < 3; i += 1) assert.equal((await failure(provider({ requestTimeoutMs: 40 }))).error.code, 'timeout');
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
    const { error, text } = await failure(provider({ stallTimeoutMs: 40 }));
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
  for await (const each of provider({ stallTimeoutMs: 100 }).stream(request, never)) {
    seen.push(each.type);
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  assert.equal(seen.at(-1), 'finish');
});

test('an abort ends the call at once, before and in the middle of an answer', async () => {
  const reason = { kind: 'stopped' };
  const early = new AbortController();
  simulator.next(silence);
  const waiting = failure(provider(), early.signal);
  setImmediate(() => early.abort(reason));
  assert.equal((await waiting).error.code, 'aborted');
  assert.equal((await failure(provider(), early.signal)).error.code, 'aborted');

  const late = new AbortController();
  simulator.next(raw([event(chunkOf({ content: 'par' }))], { then: 'silence' }));
  await assert.rejects(
    async () => {
      for await (const each of provider().stream(request, late.signal)) if (each.type === 'text') late.abort(reason);
    },
    (error) => error instanceof ModelError && error.code === 'aborted',
  );
});

test('who stops reading frees the connection', async () => {
  const closed = Promise.withResolvers<void>();
  simulator.next((response) => {
    response.on('close', () => closed.resolve());
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event(chunkOf({ content: 'a' })));
  });
  for await (const _ of provider().stream(request, never)) break;
  await closed.promise;
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

test('Retry-After and the request id are part of the error', async () => {
  simulator.next(status(429, { error: { message: 'slow' } }, { 'retry-after': '7', 'x-request-id': 'req_9' }));
  const { error } = await failure(provider());
  assert.equal(error.code, 'rate_limited');
  assert.equal(error.status, 429);
  assert.equal(error.retryAfterMs, 7000);
  assert.match(error.message, /req_9/);
});

test('the key is in no error, even when the server repeats it', async () => {
  simulator.next(
    status(401, { error: { message: `Incorrect API key provided: ${apiKey}` } }),
    status(400, `you sent Bearer ${apiKey}`),
    raw([event({ error: { message: `bad ${apiKey}` } })]),
  );
  for (let i = 0; i < 3; i += 1) {
    const { error } = await failure(provider());
    const everything = [error.message, error.stack, JSON.stringify(error), String(error.cause)].join('\n');
    assert.doesNotMatch(everything, new RegExp(apiKey));
    assert.match(error.message, /\*\*\*/);
  }
  assert.throws(() => provider({ apiKey: `${apiKey}\n` }), (error) => error instanceof ConfigError && !String(error.stack).includes(apiKey));
});

const mock = new LLMock({ port: 0 });
before(() => mock.start());
after(() => mock.stop());
beforeEach(() => {
  mock.clearFixtures();
  mock.clearChaos();
});
const mocked = (): ModelProvider => provider({ baseUrl: `${mock.url}/v1`, apiKey: 'mock-key' });

test('aimock: text, reasoning and tool calls as a server written by others streams them', async () => {
  mock.onMessage('hello', { content: 'Hi from the mock', reasoning: 'they greet', toolCalls: [{ id: 'call_a', name: 'look', arguments: '{"x":1}' }] });
  const events = await ask(mocked());
  assert.equal(textOf(events), 'Hi from the mock');
  assert.equal(events.map((each) => (each.type === 'reasoning' ? each.delta : '')).join(''), 'they greet');
  const finish = events.at(-1);
  assert.ok(finish?.type === 'finish');
  assert.equal(finish.reason, 'tool_calls');
  assert.deepEqual(finish.toolCalls, [{ id: 'call_a', name: 'look', arguments: '{"x":1}' }]);
  assert.ok(finish.usage.inputTokens > 0 && finish.usage.outputTokens > 0);
});

test('aimock: 429 with Retry-After, 500, a cut stream and bad JSON', async () => {
  mock.onMessage('hello', { content: 'never seen' });
  mock.prependFixture({ match: { userMessage: 'hello' }, response: { error: { message: 'slow', type: 'rate_limit_error' }, status: 429, retryAfter: 3 } });
  const limited = await failure(mocked());
  assert.equal(limited.error.code, 'rate_limited');
  assert.equal(limited.error.retryAfterMs, 3000);

  mock.clearFixtures();
  mock.onMessage('hello', { content: 'a long enough answer to be cut' }, { chunkSize: 4, latency: 2, truncateAfterChunks: 3 });
  mock.nextRequestError(500, { message: 'boom', type: 'server_error' });
  assert.equal((await failure(mocked())).error.code, 'server_error');
  const cut = await failure(mocked());
  assert.equal(cut.error.code, 'cut_stream');
  assert.notEqual(cut.text, '');

  mock.setChaos({ malformedRate: 1 });
  assert.equal((await failure(mocked())).error.code, 'malformed');
  mock.setChaos({ disconnectRate: 1 });
  assert.ok(['unreachable', 'cut_stream'].includes((await failure(mocked())).error.code));
});

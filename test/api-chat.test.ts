import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { calls, chunkOf, raw, says, silence, status } from '../src/agent/models/chat-simulator.ts';
import { openApiGateway, ownerKey, readFrames } from './support/api-gateway.ts';
import { specOf } from './support/json-schema.ts';
import { until } from './support/whole.ts';

const openai = specOf('openai');

const { world, api } = await openApiGateway();

const hello = { model: 'hermes', messages: [{ role: 'user' as const, content: 'hello' }] };
const weather = { type: 'function' as const, function: { name: 'get_weather', description: 'The weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } } };
const path = '/v1/chat/completions';

const errorOf = async (response: Response): Promise<{ readonly status: number; readonly code: string; readonly param: string | null }> => {
  const body = (await response.json()) as { error: { code: string; param: string | null } };
  openai('ErrorResponse', body);
  return { status: response.status, code: body.error.code, param: body.error.param };
};

const lastRequest = () => world.model.requests.at(-1)?.body as { readonly messages: readonly { readonly role: string; readonly content: unknown }[]; readonly tools?: readonly { readonly function: { readonly name: string } }[]; readonly tool_choice?: unknown };

test('an answer is a chat completion in every field', async () => {
  const response = await api.post(path, hello);
  const body = (await response.json()) as OpenAI.ChatCompletion;
  assert.equal(response.status, 200);
  openai('CreateChatCompletionResponse', body);
  assert.equal(body.choices[0]?.message.content, 're: hello');
  assert.equal(body.choices[0]?.finish_reason, 'stop');
  assert.equal(body.model, 'hermes');
  assert.deepEqual([body.usage?.prompt_tokens, body.usage?.completion_tokens, body.usage?.total_tokens], [100, 20, 120]);
});

test('a stream consists of chunks, with the usage last when it was asked for, and ends with [DONE]', async () => {
  const frames = await readFrames(await api.post(path, { ...hello, stream: true, stream_options: { include_usage: true } }));
  assert.equal(frames.at(-1)?.data, '[DONE]');
  const chunks = frames.slice(0, -1).map((frame) => JSON.parse(frame.data ?? '') as OpenAI.ChatCompletionChunk);
  for (const chunk of chunks) openai('CreateChatCompletionStreamResponse', chunk);
  assert.equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), 're: hello');
  assert.equal(chunks[0]?.choices[0]?.delta.role, 'assistant');
  assert.deepEqual(chunks.map((chunk) => chunk.choices[0]?.finish_reason ?? null).filter((reason) => reason !== null), ['stop']);
  assert.deepEqual([chunks.at(-1)?.choices, chunks.at(-1)?.usage?.total_tokens], [[], 120]);
  assert.ok(chunks.slice(0, -1).every((chunk) => chunk.usage === null));
  assert.equal(new Set(chunks.map((chunk) => chunk.id)).size, 1);
});

test('without include_usage no chunk has a usage', async () => {
  const frames = await readFrames(await api.post(path, { ...hello, stream: true }));
  for (const frame of frames.slice(0, -1)) assert.ok(!(frame.data ?? '').includes('"usage"'));
});

test('the official client gets answers and streams, with its helpers', async () => {
  const client = api.client();
  const answer = await client.chat.completions.create(hello);
  assert.equal(answer.choices[0]?.message.content, 're: hello');
  const stream = client.chat.completions.stream({ ...hello, stream_options: { include_usage: true } });
  let text = '';
  stream.on('content', (delta) => (text += delta));
  assert.equal(await stream.finalContent(), 're: hello');
  assert.equal(text, 're: hello');
  assert.equal((await stream.totalUsage()).total_tokens, 120);
});

test('the client’s whole conversation and its instructions reach the model, and nothing of it is kept', async () => {
  await api.client().chat.completions.create({
    model: 'hermes',
    messages: [
      { role: 'system', content: 'Speak like a pirate.' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
      { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
      { role: 'user', content: [{ type: 'text', text: 'three' }, { type: 'text', text: 'four' }] },
    ],
  });
  const { messages } = lastRequest();
  const system = String(messages[0]?.content);
  assert.ok(system.startsWith('You are Hermes'));
  assert.ok(system.endsWith('Speak like a pirate.\nBe brief.'));
  assert.deepEqual(messages.slice(1).map(({ role, content }) => [role, content]), [['user', 'one'], ['assistant', 'two'], ['user', 'three\nfour']]);
  const rows = await api.inside.store.read(async (db) => [await db.q.selectFrom('sessions').select('id').execute(), await db.q.selectFrom('messages').select('id').execute(), await db.q.selectFrom('inbox').select('id').execute()]);
  assert.deepEqual(rows, [[], [], []]);
});

test('a call of a client’s tool goes back to the client, and the conversation goes on with its result', async () => {
  world.model.next(calls({ id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' }));
  const client = api.client();
  const asked = { model: 'hermes', messages: [{ role: 'user' as const, content: 'How is Oslo?' }], tools: [weather] };
  const response = await api.post(path, asked);
  const first = (await response.json()) as OpenAI.ChatCompletion;
  openai('CreateChatCompletionResponse', first);
  const message = first.choices[0]?.message;
  assert.equal(first.choices[0]?.finish_reason, 'tool_calls');
  assert.equal(message?.content, null);
  assert.deepEqual(message?.tool_calls, [{ id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } }]);
  assert.ok(lastRequest().tools?.some((tool) => tool.function.name === 'get_weather'));
  world.model.next(says('Sunny.'));
  const second = await client.chat.completions.create({ ...asked, messages: [...asked.messages, message as OpenAI.ChatCompletionMessage, { role: 'tool', tool_call_id: 'call_1', content: 'sun' }] });
  assert.equal(second.choices[0]?.message.content, 'Sunny.');
  assert.deepEqual(lastRequest().messages.at(-1), { role: 'tool', tool_call_id: 'call_1', content: 'sun' });
});

test('the client’s helper runs its tools to the end, streamed', async () => {
  world.model.next(calls({ id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' }), says('It is sunny.'));
  const runner = api.client().chat.completions.runTools({
    model: 'hermes',
    stream: true,
    messages: [{ role: 'user', content: 'How is Oslo?' }],
    tools: [{ type: 'function', function: { ...weather.function, parse: JSON.parse, function: ({ city }: { city: string }) => `${city}: sun` } }],
  });
  assert.equal(await runner.finalContent(), 'It is sunny.');
  assert.deepEqual(lastRequest().messages.at(-1), { role: 'tool', tool_call_id: 'call_1', content: 'Oslo: sun' });
});

test('the agent’s own tools run here; a stream stays free of anything but chunks unless progress is asked for', async () => {
  const script = () => world.model.next(calls({ id: 'call_9', name: 'current_time', arguments: '{}' }), says('It is late.'));
  script();
  const plain = await readFrames(await api.post(path, { ...hello, stream: true }));
  assert.ok(plain.every((frame) => frame.event === undefined));
  assert.equal(lastRequest().messages.at(-1)?.role, 'tool');
  script();
  const shown = await readFrames(await api.post(path, { ...hello, stream: true, stream_options: { include_tool_progress: true } }));
  const progress = shown.filter((frame) => frame.event === 'hermes.tool.progress').map((frame) => JSON.parse(frame.data ?? '') as { tool: string; status: string });
  assert.deepEqual(progress.map(({ tool, status: how }) => [tool, how]), [['current_time', 'running'], ['current_time', 'completed']]);
});

test('tool_choice is honoured: the model must call the client’s tool, or is not offered it', async () => {
  world.model.next(calls({ id: 'call_2', name: 'get_weather', arguments: '{}' }));
  await api.client().chat.completions.create({ ...hello, tools: [weather], tool_choice: { type: 'function', function: { name: 'get_weather' } } });
  assert.deepEqual(lastRequest().tool_choice, { type: 'function', function: { name: 'get_weather' } });
  assert.deepEqual(lastRequest().tools?.map((tool) => tool.function.name), ['get_weather']);
  await api.client().chat.completions.create({ ...hello, tools: [weather], tool_choice: 'none' });
  assert.ok(lastRequest().tools?.every((tool) => tool.function.name !== 'get_weather'));
});

test('a picture in the message reaches the model', async () => {
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  await api.client().chat.completions.create({ model: 'hermes', messages: [{ role: 'user', content: [{ type: 'text', text: 'What is this?' }, { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }] }] });
  const content = lastRequest().messages.at(-1)?.content as readonly { type: string; image_url?: { url: string } }[];
  assert.equal(content.find((part) => part.type === 'image_url')?.image_url?.url, `data:image/png;base64,${png}`);
});

test('each wrong request has its own error, in the form that clients know', async () => {
  const cases: readonly (readonly [unknown, number, string, string | null])[] = [
    ['{', 400, 'invalid_json', null],
    [[], 400, 'invalid_type', null],
    ['"text"', 400, 'invalid_type', null],
    [{ messages: hello.messages }, 400, 'missing_required_parameter', 'model'],
    [{ model: 'hermes' }, 400, 'missing_required_parameter', 'messages'],
    [{ model: 'hermes', messages: 'hello' }, 400, 'invalid_type', 'messages'],
    [{ model: 'hermes', messages: [] }, 400, 'invalid_value', 'messages'],
    [{ model: 'hermes', messages: [{ role: 'king', content: 'x' }] }, 400, 'invalid_type', 'messages[0].role'],
    [{ model: 'hermes', messages: [{ role: 'user', content: 7 }] }, 400, 'invalid_type', 'messages[0].content'],
    [{ model: 'hermes', messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] }, 400, 'unsupported_content_type', 'messages[0].content[0].type'],
    [{ model: 'hermes', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'ftp://x' } }] }] }, 400, 'invalid_image_url', 'messages[0].content[0].image_url'],
    [{ model: 'hermes', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,' } }] }] }, 400, 'invalid_image_url', 'messages[0].content[0].image_url'],
    [{ model: 'hermes', messages: [{ role: 'user', content: ' ' }] }, 400, 'invalid_value', 'messages'],
    [{ model: 'hermes', messages: [{ role: 'system', content: 'x' }] }, 400, 'invalid_value', 'messages'],
    [{ model: 'hermes', messages: [...hello.messages, { role: 'assistant', content: 'x' }] }, 400, 'invalid_value', 'messages'],
    [{ model: 'hermes', messages: [...hello.messages, { role: 'tool', tool_call_id: 'none', content: 'x' }] }, 400, 'invalid_value', 'messages[1].tool_call_id'],
    [{ ...hello, stream: 'yes' }, 400, 'invalid_type', 'stream'],
    [{ ...hello, n: 2 }, 400, 'invalid_value', 'n'],
    [{ ...hello, tool_choice: 'required' }, 400, 'invalid_value', 'tool_choice'],
    [{ ...hello, tools: [weather], tool_choice: { type: 'function', function: { name: 'other' } } }, 400, 'invalid_value', 'tool_choice'],
    [{ ...hello, model: 'gpt-4' }, 404, 'model_not_found', 'model'],
    [{ ...hello, model: 'hermes/nobody' }, 404, 'model_not_found', 'model'],
  ];
  for (const [body, wanted, code, param] of cases) assert.deepEqual(await errorOf(await api.post(path, body)), { status: wanted, code, param }, JSON.stringify(body));
  assert.equal((await errorOf(await api.post(path, 'x=1', { 'content-type': 'application/x-www-form-urlencoded' }))).status, 415);
  assert.equal((await errorOf(await api.post(path, { ...hello, pad: 'x'.repeat(21 * 1024 * 1024) }))).status, 413);
  assert.deepEqual(await errorOf(await api.ask(path)), { status: 405, code: 'method_not_allowed', param: null });
  assert.deepEqual(await errorOf(await api.ask('/v1/nothing')), { status: 404, code: 'unknown_url', param: null });
});

test('a failure of the model is an error with its status, streamed or not', async () => {
  const cases: readonly (readonly [number, unknown, number, string])[] = [
    [429, { error: { message: 'slow down' } }, 429, 'rate_limit_exceeded'],
    [401, { error: { message: 'no' } }, 502, 'upstream_auth'],
    [503, 'busy', 503, 'upstream_overloaded'],
    [400, { error: { message: 'This model’s maximum context length is 10 tokens', code: 'context_length_exceeded' } }, 400, 'context_length_exceeded'],
  ];
  for (const stream of [false, true]) {
    for (const [theirs, body, ours, code] of cases) {
      world.model.next(status(theirs, body));
      const error = await errorOf(await api.post(path, { ...hello, stream }));
      assert.deepEqual([error.status, error.code], [ours, code], `${theirs}, ${stream ? 'streamed' : 'whole'}`);
    }
  }
  world.model.next(status(429, 'slow down'));
  await assert.rejects(api.client().chat.completions.create(hello), OpenAI.RateLimitError);
});

test('a model that breaks off in the middle of a stream ends it with an error and without [DONE]', async () => {
  world.model.next(raw([`data: ${JSON.stringify(chunkOf({ content: 'half ' }))}\n\n`], { then: 'cut' }));
  const frames = await readFrames(await api.post(path, { ...hello, stream: true }));
  assert.ok(frames.some((frame) => (frame.data ?? '').includes('half ')));
  openai('ErrorResponse', JSON.parse(frames.at(-1)?.data ?? ''));
  assert.ok(frames.every((frame) => frame.data !== '[DONE]'));
  world.model.next(raw([`data: ${JSON.stringify(chunkOf({ content: 'half ' }))}\n\n`], { then: 'cut' }));
  await assert.rejects(async () => {
    for await (const _chunk of await api.client().chat.completions.create({ ...hello, stream: true })) continue;
  }, OpenAI.APIError);
});

test('a client that goes away ends the turn', async () => {
  for (const stream of [false, true]) {
    const before = world.model.requests.length;
    world.model.next(silence);
    const leave = new AbortController();
    const asked = api.ask(path, { method: 'POST', body: JSON.stringify({ ...hello, stream }), headers: { 'content-type': 'application/json' }, signal: leave.signal });
    await until(() => world.model.requests.length > before, 'the model to be asked');
    assert.equal(api.inside.gateway.api.running, 1);
    leave.abort();
    await assert.rejects(asked);
    await until(() => api.inside.gateway.api.running === 0, 'the turn to end');
  }
});

test('the same Idempotency-Key is answered with the same answer and asked of the model once', async () => {
  const headers = { 'idempotency-key': 'order-1' };
  const before = world.model.requests.length;
  const both = await Promise.all([api.post(path, hello, headers), api.post(path, hello, headers)]);
  const [one, two] = (await Promise.all(both.map((response) => response.json()))) as [OpenAI.ChatCompletion, OpenAI.ChatCompletion];
  assert.deepEqual(one, two);
  assert.equal(world.model.requests.length, before + 1);
  assert.deepEqual(both.map((response) => response.headers.get('idempotency-replayed')).toSorted(), [null, 'true']);
  const streamed = await readFrames(await api.post(path, { ...hello, stream: true }, headers));
  assert.equal((JSON.parse(streamed[0]?.data ?? '') as { id: string }).id, one.id);
  assert.equal(world.model.requests.length, before + 1);
  assert.deepEqual(await errorOf(await api.post(path, { ...hello, messages: [{ role: 'user', content: 'other' }] }, headers)), { status: 409, code: 'idempotency_key_conflict', param: 'Idempotency-Key' });
  assert.equal((await errorOf(await api.post(path, hello, { 'idempotency-key': 'a b' }))).status, 400);
});

test('a call that failed is made again under its Idempotency-Key', async () => {
  const headers = { 'idempotency-key': 'order-2' };
  world.model.next(status(503, 'busy'));
  assert.equal((await api.post(path, hello, headers)).status, 503);
  assert.equal((await api.post(path, hello, headers)).status, 200);
});

test('the key is checked before anything else', async () => {
  for (const authorization of ['', 'Bearer wrong-key-of-somebody', `Basic ${ownerKey}`]) {
    const error = await errorOf(await api.post(path, '{', { authorization }));
    assert.deepEqual([error.status, error.code], [401, 'invalid_api_key']);
  }
  await assert.rejects(api.client('sk-wrong').models.list(), OpenAI.AuthenticationError);
});

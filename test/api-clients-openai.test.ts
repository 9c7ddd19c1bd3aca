import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { zodFunction, zodResponseFormat, zodResponsesFunction, zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { calls, chunkOf, raw, says, silence, status } from '../src/agent/models/chat-simulator.ts';
import { createApiKey } from '../src/store/api/api-keys.ts';
import { newApiSecret } from '../src/http/api/secret.ts';
import { newOpenaiWorld, ownerKey, startApiGateway } from './support/api-gateway.ts';
import type { ApiGateway } from './support/api-gateway.ts';
import { until } from './support/whole.ts';
import type { World } from './support/whole.ts';

let world: World;
let api: ApiGateway;
let client: OpenAI;
before(async () => {
  world = await newOpenaiWorld({ agents: { support: {} } });
  api = await startApiGateway({ world });
  client = api.client();
});
after(async () => {
  await api[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const model = 'hermes';
const say = (content: string): OpenAI.ChatCompletionUserMessageParam[] => [{ role: 'user', content }];
const place = z.object({ city: z.string(), degrees: z.number() });
const oslo = '{"city":"Oslo","degrees":7}';
const lastBody = () => world.model.requests.at(-1)?.body;

test('models are listed page by page, and one is found by its name', async () => {
  const ids: string[] = [];
  for await (const each of client.models.list()) ids.push(each.id);
  assert.deepEqual(ids, ['hermes', 'hermes/main', 'hermes/support']);
  assert.equal((await client.models.retrieve('hermes/support')).id, 'hermes/support');
  await assert.rejects(client.models.retrieve('gpt-4'), OpenAI.NotFoundError);
});

test('chat.completions.create streams into an async iterator that can be left early', async () => {
  const stream = await client.chat.completions.create({ model, messages: say('a long story'), stream: true });
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  assert.equal(text, 're: a long story');
  world.model.next(raw([`data: ${JSON.stringify(chunkOf({ content: 'one ' }))}\n\n`], { then: 'silence' }));
  const left = await client.chat.completions.create({ model, messages: say('another'), stream: true });
  for await (const chunk of left) if (chunk.choices[0]?.delta.content === 'one ') break;
  await until(() => api.inside.gateway.api.running === 0, 'the turn to end');
});

test('chat.completions.parse makes an object of an answer, of the schema that the agent was told', async () => {
  world.model.next(says(oslo));
  const made = await client.chat.completions.parse({ model, messages: say('Oslo?'), response_format: zodResponseFormat(place, 'place') });
  assert.deepEqual(made.choices[0]?.message.parsed, { city: 'Oslo', degrees: 7 });
  assert.match(String(lastBody()?.messages[0]?.['content']), /JSON Schema:\n.*"degrees"/);
});

test('chat.completions.stream tells of content, parsed objects and tool calls', async () => {
  world.model.next(says(oslo));
  const stream = client.chat.completions.stream({ model, messages: say('Oslo?'), response_format: zodResponseFormat(place, 'place') });
  const seen: string[] = [];
  stream.on('content.delta', () => void seen.push('delta'));
  stream.on('content.done', ({ parsed }) => void seen.push(JSON.stringify(parsed)));
  assert.deepEqual((await stream.finalChatCompletion()).choices[0]?.message.parsed, { city: 'Oslo', degrees: 7 });
  assert.deepEqual(seen, ['delta', oslo]);
  world.model.next(calls({ id: 'call_a', name: 'look', arguments: '{"city":"Oslo"}' }, { id: 'call_b', name: 'look', arguments: '{"city":"Bergen"}' }));
  const called = client.chat.completions.stream({ model, messages: say('both?'), tools: [zodFunction({ name: 'look', parameters: z.object({ city: z.string() }) })] });
  const cities: unknown[] = [];
  called.on('tool_calls.function.arguments.done', ({ parsed_arguments: parsed }) => void cities.push(parsed));
  await called.done();
  assert.deepEqual(cities, [{ city: 'Oslo' }, { city: 'Bergen' }]);
  assert.equal((await called.finalChatCompletion()).choices[0]?.finish_reason, 'tool_calls');
});

test('chat.completions.runTools goes round until there is an answer, several calls at a time', async () => {
  const asked: string[] = [];
  const look = zodFunction({ name: 'look', description: 'The weather', parameters: z.object({ city: z.string() }), function: ({ city }) => (asked.push(city), `${city}: sun`) });
  world.model.next(calls({ id: 'call_1', name: 'look', arguments: '{"city":"Oslo"}' }, { id: 'call_2', name: 'look', arguments: '{"city":"Bergen"}' }), calls({ id: 'call_3', name: 'look', arguments: '{"city":"Voss"}' }), says('Sun everywhere.'));
  const runner = client.chat.completions.runTools({ model, messages: say('Everywhere?'), tools: [look] });
  assert.equal(await runner.finalContent(), 'Sun everywhere.');
  assert.deepEqual(asked, ['Oslo', 'Bergen', 'Voss']);
  assert.deepEqual(lastBody()?.messages.slice(1).map((message) => message['role']), ['user', 'assistant', 'tool', 'tool', 'assistant', 'tool']);
});

test('responses.create gives and streams text, and goes on from an earlier response', async () => {
  const first = await client.responses.create({ model, input: 'one', instructions: 'Be brief.' });
  const stream = await client.responses.create({ model, input: 'two', previous_response_id: first.id, stream: true });
  let text = '';
  for await (const event of stream) if (event.type === 'response.output_text.delta') text += event.delta;
  assert.equal(text, 're: two');
  assert.equal(lastBody()?.messages.length, 4);
});

test('responses.parse and responses.stream make objects of answers and of calls', async () => {
  world.model.next(says(oslo));
  const made = await client.responses.parse({ model, input: 'Oslo?', text: { format: zodTextFormat(place, 'place') } });
  assert.deepEqual(made.output_parsed, { city: 'Oslo', degrees: 7 });
  world.model.next(says(oslo));
  const stream = client.responses.stream({ model, input: 'Oslo?', text: { format: zodTextFormat(place, 'place') } });
  let snapshot = '';
  stream.on('response.output_text.delta', (event) => (snapshot = event.snapshot));
  assert.deepEqual((await stream.finalResponse()).output_parsed, { city: 'Oslo', degrees: 7 });
  assert.equal(snapshot, oslo);
  world.model.next(calls({ id: 'call_1', name: 'look', arguments: '{"city":"Oslo"}' }));
  const called = client.responses.stream({ model, input: 'Oslo?', tools: [zodResponsesFunction({ name: 'look', parameters: z.object({ city: z.string() }) })] });
  const call = (await called.finalResponse()).output[0];
  assert.ok(call?.type === 'function_call');
  assert.deepEqual(call.parsed_arguments, { city: 'Oslo' });
});

test('responses.stream takes a response up again that runs in the background, from where it was left', async () => {
  const made = await client.responses.create({ model, input: 'take your time', background: true });
  const again = client.responses.stream({ response_id: made.id });
  assert.equal((await again.finalResponse()).output_text, 're: take your time');
  const events = await client.responses.retrieve(made.id, { stream: true, starting_after: 2 });
  const numbers: number[] = [];
  for await (const event of events) numbers.push(event.sequence_number);
  assert.equal(numbers[0], 3);
});

test('an answer can be had as it came, with its headers', async () => {
  const { data, response } = await client.chat.completions.create({ model, messages: say('hello') }, { headers: { 'X-Hermes-Session-Key': 'raw' } }).withResponse();
  assert.equal(data.choices[0]?.message.content, 're: hello');
  assert.match(response.headers.get('x-hermes-session-id') ?? '', /^\d{8}_\d{6}_[0-9a-f]{8}$/);
  assert.equal((await client.models.list().asResponse()).status, 200);
});

test('each failure is an error of its own class, with code and param', async () => {
  const chat = (more: object, by = client): Promise<unknown> => by.chat.completions.create({ model, messages: say('hello'), ...more }, { maxRetries: 0 });
  await assert.rejects(chat({ messages: [] }), (error) => error instanceof OpenAI.BadRequestError && error.param === 'messages' && error.type === 'invalid_request_error');
  await assert.rejects(chat({}, api.client('sk-wrong')), (error) => error instanceof OpenAI.AuthenticationError && error.code === 'invalid_api_key');
  await assert.rejects(chat({ model: 'gpt-4' }), (error) => error instanceof OpenAI.NotFoundError && error.code === 'model_not_found');
  await assert.rejects(client.responses.create({ model, input: 'x', previous_response_id: 'resp_none' }), OpenAI.NotFoundError);
  const { secret, ...hashed } = newApiSecret();
  await api.inside.store.write((tx) => createApiKey(tx, { id: 'jobs', name: 'jobs', scopes: ['jobs'], limits: {}, ...hashed }));
  await assert.rejects(chat({}, api.client(secret)), OpenAI.PermissionDeniedError);
  const named = { headers: { 'Idempotency-Key': 'sdk-1' } };
  await client.chat.completions.create({ model, messages: say('one') }, named);
  await assert.rejects(client.chat.completions.create({ model, messages: say('two') }, named), OpenAI.ConflictError);
  world.model.next(status(429, 'slow down'), status(500, 'broken'));
  await assert.rejects(chat({}), (error) => error instanceof OpenAI.RateLimitError && error.type === 'rate_limit_error');
  await assert.rejects(chat({}), OpenAI.InternalServerError);
});

test('a failure in the middle of a stream reaches the client as an error, of either API', async () => {
  const cut = raw([`data: ${JSON.stringify(chunkOf({ content: 'half ' }))}\n\n`], { then: 'cut' });
  world.model.next(cut, cut);
  await assert.rejects(client.chat.completions.stream({ model, messages: say('hello') }).finalContent(), OpenAI.APIError);
  await assert.rejects(client.responses.stream({ model, input: 'hello' }).finalResponse(), (error) => error instanceof OpenAI.APIError && error.code === 'upstream_error');
});

test('a call that failed for the moment is made again by the client itself', async () => {
  const patient = new OpenAI({ baseURL: `${api.url}/v1`, apiKey: ownerKey, maxRetries: 2 });
  const seen = world.model.requests.length;
  world.model.next(status(503, 'busy'));
  assert.equal((await patient.chat.completions.create({ model, messages: say('hello') })).choices[0]?.message.content, 're: hello');
  assert.equal(world.model.requests.length, seen + 2);
});

test('an abort and a timeout end the turn', async () => {
  const running = (count: number) => until(() => api.inside.gateway.api.running === count, `${count} running turns`);
  world.model.next(silence);
  const leave = new AbortController();
  const asked = client.chat.completions.create({ model, messages: say('slow') }, { signal: leave.signal });
  await running(1);
  leave.abort();
  await assert.rejects(asked, OpenAI.APIUserAbortError);
  await running(0);
  world.model.next(silence);
  const stream = client.chat.completions.stream({ model, messages: say('slow') });
  await running(1);
  stream.abort();
  await assert.rejects(stream.done(), OpenAI.APIUserAbortError);
  await running(0);
  world.model.next(silence);
  await assert.rejects(client.chat.completions.create({ model, messages: say('slow') }, { timeout: 50 }), OpenAI.APIConnectionTimeoutError);
  await running(0);
});

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { calls, chunkOf, raw, says, silence, status } from '../src/agent/models/chat-simulator.ts';
import { newApiSecret } from '../src/http/api/secret.ts';
import { createApiKey } from '../src/store/api/api-keys.ts';
import { newOpenaiWorld, readEvents, startApiGateway } from './support/api-gateway.ts';
import type { ApiGateway } from './support/api-gateway.ts';
import { specOf } from './support/json-schema.ts';
import { until } from './support/whole.ts';
import type { World } from './support/whole.ts';

const openai = specOf('openai');
const openResponses = specOf('open-responses');

let world: World;
let api: ApiGateway;
before(async () => {
  world = await newOpenaiWorld({ agent: { restart_drain_timeout: 0 } });
  api = await startApiGateway({ world });
});
after(async () => {
  await api[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const path = '/v1/responses';
const weather = { type: 'function' as const, name: 'get_weather', description: 'The weather', parameters: { type: 'object', properties: { city: { type: 'string' } } }, strict: false };

type Event = OpenAI.Responses.ResponseStreamEvent;

const checkedResponse = (body: unknown): OpenAI.Responses.Response => {
  openai('Response', body);
  openResponses('ResponseResource', body);
  return body as OpenAI.Responses.Response;
};

const create = async (body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<OpenAI.Responses.Response> => {
  const response = await api.post(path, body, headers);
  assert.equal(response.status, 200, await response.clone().text());
  return checkedResponse(await response.json());
};

const eventsOf = async (response: Response): Promise<readonly Event[]> => {
  const frames = await readEvents(response);
  const events = frames.filter((frame) => frame.data !== undefined).map((frame) => JSON.parse(frame.data ?? '') as Event);
  for (const [index, event] of events.entries()) {
    openai('ResponseStreamEvent', event);
    openResponses('StreamingEvent', event);
    assert.equal(frames[index]?.event, event.type);
    assert.equal(event.sequence_number, index);
  }
  return events;
};

const said = (response: OpenAI.Responses.Response): string => response.output.flatMap((item) => (item.type === 'message' ? item.content.map((part) => (part.type === 'output_text' ? part.text : '')) : [])).join('');
const lastMessages = () => (world.model.requests.at(-1)?.body.messages ?? []).filter((message) => message['role'] !== 'system').map((message) => [message['role'], message['content']]);
const codeOf = async (response: Response): Promise<readonly [number, string]> => {
  const body = (await response.json()) as { error: { code: string } };
  openai('ErrorResponse', body);
  openResponses('ErrorPayload', body.error);
  return [response.status, body.error.code];
};

test('a response validates against both documents and can be looked up with its input', async () => {
  const made = await create({ model: 'hermes', input: 'hello', instructions: 'Be brief.', metadata: { a: 'b' } });
  assert.equal(said(made), 're: hello');
  assert.deepEqual([made.status, made.instructions, made.metadata, made.usage?.total_tokens], ['completed', 'Be brief.', { a: 'b' }, 120]);
  const found = checkedResponse(await (await api.ask(`${path}/${made.id}`)).json());
  assert.deepEqual({ ...found, completed_at: 0 }, { ...made, completed_at: 0 });
  const items = (await (await api.ask(`${path}/${made.id}/input_items`)).json()) as { data: { role: string }[] };
  openai('ResponseItemList', items);
  assert.deepEqual(items.data.map(({ role }) => role), ['user']);
});

test('a streamed response is the same in events, numbered without gaps', async () => {
  const events = await eventsOf(await api.post(path, { model: 'hermes', input: 'hello', stream: true }));
  const types = events.map(({ type }) => type);
  assert.deepEqual(types.filter((type, index) => type !== types[index - 1]), [
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ]);
  const deltas = events.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []));
  assert.equal(deltas.join(''), 're: hello');
  const last = events.at(-1);
  assert.ok(last?.type === 'response.completed');
  assert.equal(said(last.response), 're: hello');
});

test('what the model has said is there before it has ended, in chats and responses', async () => {
  const bodies: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
    [path, { model: 'hermes', input: 'hello', stream: true }],
    ['/v1/chat/completions', { model: 'hermes', messages: [{ role: 'user', content: 'hello' }], stream: true }],
  ];
  for (const [where, body] of bodies) {
    const release = Promise.withResolvers<void>();
    world.model.next(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(chunkOf({ content: 'first ' }))}\n\n`);
      await release.promise;
      response.end(`data: ${JSON.stringify(chunkOf({ content: 'second' }, 'stop'))}\n\ndata: [DONE]\n\n`);
    });
    const response = await api.post(where, body);
    let text = '';
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      text += piece;
      if (text.includes('first ')) release.resolve();
    }
    assert.match(text, /second/);
  }
});

test('previous_response_id continues a conversation, is echoed, and branches when it was continued before', async () => {
  const one = await create({ model: 'hermes', input: 'one' });
  const two = await create({ model: 'hermes', input: 'two', previous_response_id: one.id });
  assert.equal(two.previous_response_id, one.id);
  assert.deepEqual(lastMessages(), [['user', 'one'], ['assistant', 're: one'], ['user', 'two']]);
  await create({ model: 'hermes', input: 'other', previous_response_id: one.id });
  assert.deepEqual(lastMessages(), [['user', 'one'], ['assistant', 're: one'], ['user', 'other']]);
  await create({ model: 'hermes', input: 'three', previous_response_id: two.id });
  assert.deepEqual(lastMessages().map(([, content]) => content), ['one', 're: one', 'two', 're: two', 'three']);
  assert.deepEqual(await codeOf(await api.post(path, { model: 'hermes', input: 'x', previous_response_id: 'resp_none' })), [404, 'previous_response_not_found']);
});

test('a named conversation goes on', async () => {
  await create({ model: 'hermes', input: 'one', conversation: 'diary' });
  const two = await create({ model: 'hermes', input: 'two', conversation: { id: 'diary' } });
  assert.deepEqual(two.conversation, { id: 'diary' });
  assert.deepEqual(lastMessages(), [['user', 'one'], ['assistant', 're: one'], ['user', 'two']]);
  assert.equal((await codeOf(await api.post(path, { input: 'x', conversation: 'diary', previous_response_id: two.id })))[0], 400);
});

test('a function of the client is called and its output continues the response, streamed and not', async () => {
  for (const stream of [false, true]) {
    world.model.next(calls({ id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' }));
    const body = { model: 'hermes', input: 'How is Oslo?', tools: [weather] };
    const events = stream ? await eventsOf(await api.post(path, { ...body, stream })) : [];
    const last = events.at(-1);
    const made = stream ? (last?.type === 'response.completed' ? last.response : assert.fail('not completed')) : await create(body);
    const call = made.output.find((item) => item.type === 'function_call');
    assert.deepEqual([call?.call_id, call?.name, call?.arguments], ['call_1', 'get_weather', '{"city":"Oslo"}']);
    world.model.next(says('Sunny.'));
    const next = await create({ model: 'hermes', previous_response_id: made.id, input: [{ type: 'function_call_output', call_id: 'call_1', output: 'sun' }], tools: [weather] });
    assert.equal(said(next), 'Sunny.');
    assert.deepEqual(lastMessages().map(([role]) => role), ['user', 'assistant', 'tool']);
  }
  const made = await create({ model: 'hermes', input: 'hello' });
  assert.equal((await codeOf(await api.post(path, { model: 'hermes', previous_response_id: made.id, input: [{ type: 'function_call_output', call_id: 'call_x', output: 'sun' }] })))[0], 400);
});

test('functions in a namespace are called by their names, and known again when they come back', async () => {
  const tools = [{ type: 'namespace', name: 'sky', description: 'About the sky', tools: [{ ...weather, name: 'look' }] }, { ...weather, name: 'look' }];
  for (const stream of [false, true]) {
    world.model.next(calls({ id: 'call_1', name: 'sky__look', arguments: '{}' }, { id: 'call_2', name: 'look', arguments: '{}' }));
    const body = { model: 'hermes', input: 'Look up.', tools, store: false };
    const last = stream ? (await eventsOf(await api.post(path, { ...body, stream }))).at(-1) : undefined;
    const made = stream ? (last?.type === 'response.completed' ? last.response : assert.fail('not completed')) : await create(body);
    assert.deepEqual(made.output.map((item) => item.type === 'function_call' && [item.name, item.namespace]), [['look', 'sky'], ['look', undefined]]);
    const results = ['call_1', 'call_2'].map((id) => ({ type: 'function_call_output', call_id: id, output: 'blue' }));
    await create({ ...body, input: [{ role: 'user', content: 'Look up.' }, ...made.output, ...results] });
    const asked = world.model.requests.at(-1)?.body.messages.find((message) => message['role'] === 'assistant') as { tool_calls: { function: { name: string } }[] };
    assert.deepEqual(asked.tool_calls.map((call) => call.function.name), ['sky__look', 'look']);
  }
  assert.deepEqual(await codeOf(await api.post(path, { model: 'hermes', input: 'x', tools: [{ type: 'namespace', name: 'n'.repeat(60), tools: [{ ...weather }] }] })), [400, 'invalid_value']);
});

test('tools that the agent has itself do not appear as calls that the client should make', async () => {
  world.model.next(calls({ id: 'call_9', name: 'current_time', arguments: '{}' }), says('It is late.'));
  const made = await create({ model: 'hermes', input: 'What time is it?' });
  assert.deepEqual(made.output.map(({ type }) => type), ['message']);
});

test('a whole conversation in the input is taken over; with store: false nothing is kept', async () => {
  const input = [{ role: 'user', content: 'one' }, { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'two' }] }, { role: 'user', content: [{ type: 'input_text', text: 'three' }] }];
  await create({ model: 'hermes', input });
  assert.deepEqual(lastMessages(), [['user', 'one'], ['assistant', 'two'], ['user', 'three']]);
  const count = () => api.inside.store.read(async (db) => (await db.q.selectFrom('sessions').select('id').execute()).length);
  const before = await count();
  const made = await create({ model: 'hermes', input, store: false });
  assert.deepEqual(lastMessages(), [['user', 'one'], ['assistant', 'two'], ['user', 'three']]);
  assert.equal(await count(), before);
  assert.equal((await api.ask(`${path}/${made.id}`)).status, 404);
});

test('items of earlier responses can be named by their ids, those that were asked and those that were answered', async () => {
  world.model.next(calls({ id: 'call_1', name: 'get_weather', arguments: '{}' }));
  const one = await create({ model: 'hermes', input: 'weather?', tools: [weather] });
  const asked = (await (await api.ask(`${path}/${one.id}/input_items`)).json()) as { data: { id: string }[] };
  const input = [{ type: 'item_reference', id: asked.data[0]?.id }, { id: one.output[0]?.id }, { type: 'function_call_output', call_id: 'call_1', output: 'sun' }];
  await create({ model: 'hermes', input });
  assert.deepEqual(lastMessages().map(([role]) => role), ['user', 'assistant', 'tool']);
  const two = await create({ model: 'hermes', input: 'two' });
  await create({ model: 'hermes', input: [{ type: 'item_reference', id: two.output[0]?.id }, { role: 'user', content: 'three' }] });
  assert.deepEqual(lastMessages().slice(-2), [['assistant', 're: two'], ['user', 'three']]);
  const unknown = [`${(two.output[0]?.id ?? '').slice(0, -4)}0000`, `msg_${'0'.repeat(40)}`, 'msg_1', 'resp_1'];
  for (const id of unknown) assert.deepEqual(await codeOf(await api.post(path, { model: 'hermes', input: [{ type: 'item_reference', id }] })), [404, 'item_not_found'], id);
});

test('the official client creates, streams, retrieves and deletes', async () => {
  const client = api.client();
  const made = await client.responses.create({ model: 'hermes', input: 'hello' });
  assert.equal(made.output_text, 're: hello');
  const stream = client.responses.stream({ model: 'hermes', input: 'again', previous_response_id: made.id });
  assert.equal((await stream.finalResponse()).output_text, 're: again');
  assert.equal((await client.responses.retrieve(made.id)).output_text, 're: hello');
  assert.equal((await client.responses.inputItems.list(made.id)).data.length, 1);
  await client.responses.delete(made.id);
  await assert.rejects(client.responses.retrieve(made.id), OpenAI.NotFoundError);
});

test('a response in the background is answered without anybody waiting, and can be cancelled', async () => {
  const client = api.client();
  const made = await client.responses.create({ model: 'hermes', input: 'later', background: true });
  assert.equal(made.status, 'queued');
  await until(async () => (await client.responses.retrieve(made.id)).status === 'completed', 'the response to be made');
  assert.equal((await client.responses.retrieve(made.id)).output_text, 're: later');
  const seen = world.model.requests.length;
  world.model.next(silence);
  const slow = await client.responses.create({ model: 'hermes', input: 'slow', background: true });
  await until(() => world.model.requests.length > seen, 'the turn to run');
  const cancelled = checkedResponse(await (await api.post(`${path}/${slow.id}/cancel`, {})).json());
  assert.equal(cancelled.status, 'cancelled');
});

test('a response can be taken up again as a stream: while it is made and after, from any event on', async () => {
  const seen = world.model.requests.length;
  const release = Promise.withResolvers<void>();
  world.model.next(async (response, request) => {
    await release.promise;
    await says('three small words')(response, request);
  });
  const made = await create({ model: 'hermes', input: 'later', background: true });
  await until(() => world.model.requests.length > seen, 'the turn to run');
  const early = api.ask(`${path}/${made.id}?stream=true`);
  release.resolve();
  const whole = await eventsOf(await early);
  const last = whole.at(-1);
  assert.ok(last?.type === 'response.completed');
  assert.equal(said(last.response), 'three small words');
  assert.deepEqual(whole, await eventsOf(await api.ask(`${path}/${made.id}?stream=true`)));
  const behind = async (after: number) => (await readEvents(await api.ask(`${path}/${made.id}?stream=true&starting_after=${after}`))).map(({ data }) => JSON.parse(data ?? '') as Event);
  assert.deepEqual(await behind(4), whole.slice(5));
  assert.deepEqual((await behind(90)).map(({ type, sequence_number: number }) => [type, number]), [['response.completed', 91]]);
  assert.deepEqual(await codeOf(await api.ask(`${path}/${made.id}?stream=yes`)), [400, 'invalid_value']);
  assert.equal((await api.ask(`${path}/resp_none?stream=true`)).status, 404);
});

test('a response that waits behind another is cancelled without being begun, and the other one is left alone', async () => {
  const client = api.client();
  const seen = world.model.requests.length;
  const release = Promise.withResolvers<void>();
  world.model.next(async (response, request) => {
    await release.promise;
    await says('first done')(response, request);
  });
  const first = await client.responses.create({ model: 'hermes', input: 'one', background: true, conversation: 'queue' });
  await until(() => world.model.requests.length > seen, 'the first to run');
  const second = await client.responses.create({ model: 'hermes', input: 'two', background: true, conversation: 'queue' });
  assert.deepEqual(await codeOf(await api.post(path, { model: 'hermes', input: 'x', previous_response_id: second.id })), [409, 'previous_response_in_progress']);
  assert.equal((await client.responses.cancel(second.id)).status, 'cancelled');
  release.resolve();
  await until(async () => (await client.responses.retrieve(first.id)).status === 'completed', 'the first to end');
  assert.equal((await client.responses.retrieve(first.id)).output_text, 'first done');
  assert.equal(world.model.requests.length, seen + 1);
});

test('failures are errors before the stream, and an error and response.failed within it', async () => {
  for (const stream of [false, true]) {
    world.model.next(status(429, 'slow down'));
    assert.deepEqual(await codeOf(await api.post(path, { model: 'hermes', input: 'hello', stream })), [429, 'rate_limit_exceeded']);
  }
  world.model.next(raw([`data: ${JSON.stringify(chunkOf({ content: 'half ' }))}\n\n`], { then: 'cut' }));
  const [error, last] = (await eventsOf(await api.post(path, { model: 'hermes', input: 'hello', stream: true }))).slice(-2);
  assert.ok(error?.type === 'error' && last?.type === 'response.failed');
  assert.equal(error.code, 'upstream_error');
  assert.equal(last.response.error?.code, 'server_error');
});

test('wrong requests have their own errors', async () => {
  const cases: readonly (readonly [unknown, number, string])[] = [
    [{ model: 'hermes' }, 400, 'missing_required_parameter'],
    [{ model: 'hermes', input: [] }, 400, 'invalid_value'],
    [{ model: 'hermes', input: ' ' }, 400, 'invalid_value'],
    [{ model: 'hermes', input: [{ type: 'nonsense' }] }, 400, 'invalid_type'],
    [{ model: 'gpt-4', input: 'x' }, 404, 'model_not_found'],
    [{ model: 'hermes', input: 'x', temperature: 'hot' }, 400, 'invalid_type'],
    [{ model: 'hermes', input: 'x', background: true, store: false }, 400, 'invalid_value'],
  ];
  for (const [body, wanted, code] of cases) assert.deepEqual(await codeOf(await api.post(path, body)), [wanted, code], JSON.stringify(body));
  assert.equal((await api.ask(`${path}/resp_none`)).status, 404);
});

test('another key does not find a response', async () => {
  const made = await create({ model: 'hermes', input: 'mine' });
  const { secret, ...hashed } = newApiSecret();
  await api.inside.store.write((tx) => createApiKey(tx, { id: 'other', name: 'other', scopes: ['chat'], limits: {}, ...hashed }));
  const other = { authorization: `Bearer ${secret}` };
  assert.equal((await api.ask(`${path}/${made.id}`, { headers: other })).status, 404);
  assert.equal((await api.post(path, { input: 'x', previous_response_id: made.id }, other)).status, 404);
  assert.equal((await api.post(path, { input: [{ type: 'item_reference', id: made.output[0]?.id }, { role: 'user', content: 'x' }] }, other)).status, 404);
});

test('a repeat under the same Idempotency-Key gets the same response', async () => {
  const headers = { 'idempotency-key': 'response-1' };
  const one = await create({ model: 'hermes', input: 'once' }, headers);
  const seen = world.model.requests.length;
  assert.equal((await create({ model: 'hermes', input: 'once' }, headers)).id, one.id);
  assert.equal(world.model.requests.length, seen);
});

test('responses are there after a restart, and go on', async () => {
  const made = await create({ model: 'hermes', input: 'before' });
  await api[Symbol.asyncDispose]();
  api = await startApiGateway({ world });
  assert.equal(said(checkedResponse(await (await api.ask(`${path}/${made.id}`)).json())), 're: before');
  await create({ model: 'hermes', input: 'after', previous_response_id: made.id });
  assert.deepEqual(lastMessages(), [['user', 'before'], ['assistant', 're: before'], ['user', 'after']]);
});

test('a response in the background that a restart cut short is made after it, and stays the same response', async () => {
  const seen = world.model.requests.length;
  world.model.next(silence);
  const made = await api.client().responses.create({ model: 'hermes', input: 'survive', background: true });
  await until(() => world.model.requests.length > seen, 'the turn to run');
  await api[Symbol.asyncDispose]();
  api = await startApiGateway({ world });
  await until(async () => (await api.client().responses.retrieve(made.id)).status === 'completed', 'the response to be made');
  assert.equal((await api.client().responses.retrieve(made.id)).output_text, 're: survive');
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import type OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { WebSocket } from 'ws';
import { calls, chunkOf, says, silence, status } from '../src/agent/models/chat-simulator.ts';
import { newApiSecret } from '../src/http/api/secret.ts';
import { createApiKey, revokeApiKey } from '../src/store/api/api-keys.ts';
import { newOpenaiWorld, ownerKey, startApiGateway } from './support/api-gateway.ts';
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
  api = await startApiGateway({ world, api: { cors_origins: ['https://chat.example.org'], max_body_mb: 0.1 } });
});
after(async () => {
  await api[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

type Event = OpenAI.Responses.ResponseStreamEvent;
interface ErrorEvent {
  readonly type: 'error';
  readonly status: number;
  readonly error: { readonly code: string; readonly message: string };
}

interface Connection extends Disposable {
  readonly socket: WebSocket;
  send(message: unknown): void;
  /** What comes up to the end of a response, or up to an error. */
  events(): Promise<readonly Event[]>;
  error(): Promise<ErrorEvent>;
  /** Resolves when such an event has come. */
  sees(type: Event['type']): Promise<void>;
}

const isLast = ({ type }: { readonly type: string }): boolean => ['response.completed', 'response.failed', 'response.incomplete', 'error'].includes(type);

const connect = async (headers: Readonly<Record<string, string>> = {}): Promise<Connection> => {
  const socket = new WebSocket(`${api.url.replace('http', 'ws')}/v1/responses`, { headers: { authorization: `Bearer ${ownerKey}`, ...headers } });
  const arrived: (Event | ErrorEvent)[] = [];
  socket.on('message', (data: Buffer) => arrived.push(JSON.parse(data.toString()) as Event | ErrorEvent));
  await once(socket, 'open');
  const next = async (): Promise<readonly (Event | ErrorEvent)[]> => {
    await until(() => arrived.some(isLast), 'the end of a response');
    return arrived.splice(0, arrived.findIndex(isLast) + 1);
  };
  return {
    socket,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    async events() {
      const events = (await next()) as readonly Event[];
      for (const [index, event] of events.entries()) {
        openai('ResponseStreamEvent', event);
        openResponses('StreamingEvent', event);
        assert.equal(event.sequence_number, index);
      }
      return events;
    },
    async error() {
      const [event] = await next();
      openResponses('WebSocketErrorEvent', event);
      return event as ErrorEvent;
    },
    sees: (type) => until(() => arrived.some((event) => event.type === type), type),
    [Symbol.dispose]: () => socket.terminate(),
  };
};

const refusal = async (headers: Readonly<Record<string, string>>): Promise<number | undefined> => {
  const socket = new WebSocket(`${api.url.replace('http', 'ws')}/v1/responses`, { headers });
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode?: number }];
  socket.terminate();
  return response.statusCode;
};

const create = (input: unknown, more: object = {}) => ({ type: 'response.create', model: 'hermes', input, ...more });
const responseOf = (events: readonly Event[]): OpenAI.Responses.Response => {
  const last = events.at(-1);
  return last?.type === 'response.completed' ? last.response : assert.fail(JSON.stringify(last));
};
const textOf = (response: OpenAI.Responses.Response): string => response.output.flatMap((item) => (item.type === 'message' ? item.content.map((part) => (part.type === 'output_text' ? part.text : '')) : [])).join('');
const lastMessages = () => (world.model.requests.at(-1)?.body.messages ?? []).filter((message) => message['role'] !== 'system').map((message) => [message['role'], message['content']]);

test('each response.create is answered with the events of a streamed response, and continues an earlier one', async () => {
  using connection = await connect();
  connection.send(create('one'));
  const first = responseOf(await connection.events());
  assert.equal(textOf(first), 're: one');
  connection.send(create([{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'two' }] }], { previous_response_id: first.id }));
  const events = await connection.events();
  assert.deepEqual(events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]).slice(0, 3), ['response.created', 'response.in_progress', 'response.output_item.added']);
  assert.equal(responseOf(events).previous_response_id, first.id);
  assert.deepEqual(lastMessages(), [['user', 'one'], ['assistant', 're: one'], ['user', 'two']]);
  assert.equal((await api.ask(`/v1/responses/${first.id}`)).status, 200);
  using another = await connect();
  another.send(create('three', { previous_response_id: responseOf(events).id }));
  assert.equal(textOf(responseOf(await another.events())), 're: three');
  assert.equal(lastMessages().length, 5);
});

test('with store: false a connection remembers its last response, and nobody else does', async () => {
  using connection = await connect();
  const count = () => api.inside.store.read(async (db) => (await db.q.selectFrom('sessions').select('id').execute()).length);
  const before = await count();
  const weather = { type: 'function', name: 'get_weather', description: 'The weather', parameters: { type: 'object', properties: {} }, strict: false };
  world.model.next(calls({ id: 'call_1', name: 'get_weather', arguments: '{}' }));
  connection.send(create('How is Oslo?', { store: false, tools: [weather] }));
  const first = responseOf(await connection.events());
  world.model.next(says('Sunny.'));
  connection.send(create([{ type: 'function_call_output', call_id: 'call_1', output: 'sun' }], { store: false, tools: [weather], previous_response_id: first.id }));
  const second = responseOf(await connection.events());
  assert.deepEqual([textOf(second), second.previous_response_id], ['Sunny.', first.id]);
  assert.deepEqual(lastMessages().map(([role]) => role), ['user', 'assistant', 'tool']);
  connection.send(create('And now?', { store: false, previous_response_id: second.id }));
  assert.equal(textOf(responseOf(await connection.events())), 're: And now?');
  assert.equal(lastMessages().length, 5);
  assert.equal(await count(), before);
  using another = await connect();
  another.send(create('x', { store: false, previous_response_id: second.id }));
  assert.deepEqual([(await another.error()).status, (await api.ask(`/v1/responses/${second.id}`)).status], [404, 404]);
});

test('what is only prepared asks no model, and the next message goes on from it', async () => {
  using connection = await connect();
  const seen = world.model.requests.length;
  connection.send(create([{ role: 'user', content: 'context' }], { generate: false }));
  const prepared = responseOf(await connection.events());
  assert.deepEqual([prepared.output, world.model.requests.length], [[], seen]);
  connection.send(create('question', { previous_response_id: prepared.id }));
  await connection.events();
  assert.match(JSON.stringify(lastMessages()), /context.*question/);
});

test('messages that come together are answered one after the other', async () => {
  using connection = await connect();
  for (const text of ['a', 'b', 'c']) connection.send(create(text));
  const answers: string[] = [];
  for (const _ of [1, 2, 3]) answers.push(textOf(responseOf(await connection.events())));
  assert.deepEqual(answers, ['re: a', 're: b', 're: c']);
});

test('a response is cancelled by a message, and by the end of its connection', async () => {
  using connection = await connect();
  world.model.next(async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify(chunkOf({ content: 'half ' }))}\n\n`);
  });
  connection.send(create('slow'));
  await connection.sees('response.output_text.delta');
  connection.send({ type: 'response.cancel' });
  assert.equal((await connection.events()).at(-1)?.type, 'response.failed');
  connection.send(create('again'));
  assert.equal(textOf(responseOf(await connection.events())), 're: again');
  const seen = world.model.requests.length;
  world.model.next(silence);
  connection.send(create('left alone', { conversation: 'left' }));
  await until(() => world.model.requests.length > seen, 'the turn to run');
  connection.socket.terminate();
  using another = await connect();
  another.send(create('next', { conversation: 'left' }));
  assert.match(textOf(responseOf(await another.events())), /next/);
});

test('what is wrong is told as an error, and the connection stays', async () => {
  using connection = await connect();
  world.model.next(status(429, 'slow down'));
  const cases: readonly (readonly [unknown, number, string])[] = [
    [create('hello'), 429, 'rate_limit_exceeded'],
    ['{', 400, 'invalid_json'],
    ['[]', 400, 'invalid_type'],
    [{ type: 'response.sing' }, 400, 'invalid_value'],
    [{ type: 'response.create', model: 'hermes' }, 400, 'missing_required_parameter'],
    [create('x', { model: 'gpt-4' }), 404, 'model_not_found'],
    [create('x', { previous_response_id: 'resp_none' }), 404, 'previous_response_not_found'],
    [create('x', { background: true }), 400, 'invalid_value'],
    [create('x'.repeat(200_000)), 413, 'body_too_large'],
  ];
  for (const [message, wanted, code] of cases) {
    connection.send(message);
    const { status: told, error } = await connection.error();
    assert.deepEqual([told, error.code], [wanted, code], JSON.stringify(message).slice(0, 100));
  }
  connection.send(create('still here', { stream: true }));
  assert.equal(textOf(responseOf(await connection.events())), 're: still here');
});

test('a connection needs a living key, a scope and an origin that is allowed', async () => {
  assert.equal(await refusal({}), 401);
  assert.equal(await refusal({ authorization: `Bearer ${ownerKey}`, origin: 'https://evil.example' }), 403);
  const { secret, ...hashed } = newApiSecret();
  await api.inside.store.write((tx) => createApiKey(tx, { id: 'short', name: 'short', scopes: ['chat'], limits: { perMinute: 1 }, ...hashed }));
  const { secret: other, ...rest } = newApiSecret();
  await api.inside.store.write((tx) => createApiKey(tx, { id: 'jobs', name: 'jobs', scopes: ['jobs'], limits: {}, ...rest }));
  assert.equal(await refusal({ authorization: `Bearer ${other}` }), 403);
  using connection = await connect({ authorization: `Bearer ${secret}`, origin: 'https://chat.example.org' });
  connection.send(create('one'));
  await connection.events();
  connection.send(create('two'));
  assert.deepEqual((await connection.error()).status, 429);
  await api.inside.store.write((tx) => revokeApiKey(tx, 'short'));
  connection.send(create('three'));
  assert.deepEqual([(await connection.error()).status, (await api.ask('/v1/responses')).status], [401, 405]);
});

test('the official client speaks it', async () => {
  const socket = new ResponsesWS(api.client());
  const events: string[] = [];
  const done = Promise.withResolvers<string>();
  socket.on('event', (event) => {
    events.push(event.type);
    if (event.type === 'response.completed') done.resolve(textOf(event.response as OpenAI.Responses.Response));
  });
  socket.on('error', (error) => done.reject(error));
  socket.send({ type: 'response.create', model: 'hermes', input: 'hello' });
  assert.equal(await done.promise, 're: hello');
  assert.equal(events[0], 'response.created');
  socket.close();
});

test('a gateway that stops closes its connections', async () => {
  await using other = await startApiGateway();
  const socket = new WebSocket(`${other.url.replace('http', 'ws')}/v1/responses`, { headers: { authorization: `Bearer ${ownerKey}` } });
  await once(socket, 'open');
  const closed = once(socket, 'close');
  await other[Symbol.asyncDispose]();
  assert.equal((await closed)[0], 1001);
});

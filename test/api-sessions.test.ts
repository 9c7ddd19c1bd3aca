import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type OpenAI from 'openai';
import { calls, says, silence } from '../src/agent/models/chat-simulator.ts';
import { createApiKey } from '../src/store/api/api-keys.ts';
import { newApiSecret } from '../src/http/api/secret.ts';
import { startApiGateway } from './support/api-gateway.ts';
import type { ApiGateway } from './support/api-gateway.ts';
import { until } from './support/whole.ts';

let api: ApiGateway;
before(async () => {
  api = await startApiGateway();
});
after(() => api[Symbol.asyncDispose]());

const path = '/v1/chat/completions';
const say = (content: string) => ({ model: 'hermes', messages: [{ role: 'user' as const, content }] });
const lastMessages = () => (api.world.model.requests.at(-1)?.body.messages ?? []).filter((message) => message['role'] !== 'system').map((message) => [message['role'], message['content']]);
const contentOf = async (response: Response): Promise<string | null | undefined> => ((await response.json()) as OpenAI.ChatCompletion).choices[0]?.message.content;

const otherKey = async (name: string): Promise<string> => {
  const { secret, ...hashed } = newApiSecret();
  await api.inside.store.write((tx) => createApiKey(tx, { id: name, name, scopes: ['chat'], limits: {}, ...hashed }));
  return secret;
};

test('a session key continues one conversation: the server has its history, streamed or not', async () => {
  const headers = { 'x-hermes-session-key': 'séance-🙂' };
  const encoded = { 'x-hermes-session-key': Buffer.from(headers['x-hermes-session-key']).toString('latin1') };
  const first = await api.post(path, say('one'), encoded);
  const sessionId = first.headers.get('x-hermes-session-id') ?? '';
  assert.equal(await contentOf(first), 're: one');
  const second = await api.post(path, { ...say('two'), stream: true }, encoded);
  assert.equal(second.headers.get('x-hermes-session-id'), sessionId);
  assert.match(await second.text(), /\[DONE\]/);
  assert.deepEqual(lastMessages(), [['user', 'one'], ['assistant', 're: one'], ['user', 'two']]);
  const third = await api.post(path, say('three'), { 'x-hermes-session-id': sessionId });
  assert.equal(await contentOf(third), 're: three');
  assert.equal(lastMessages().length, 5);
  const deliveries = await api.inside.store.read((db) => db.q.selectFrom('outbox').select('id').execute());
  assert.deepEqual(deliveries, []);
});

test('one key’s sessions do not exist for another key, nor do those of chats', async () => {
  const mine = (await api.post(path, say('secret'), { 'x-hermes-session-key': 'shared' })).headers.get('x-hermes-session-id') ?? '';
  const stranger = { authorization: `Bearer ${await otherKey('stranger')}` };
  assert.equal((await api.post(path, say('hi'), { ...stranger, 'x-hermes-session-id': mine })).status, 404);
  await api.post(path, say('hi'), { ...stranger, 'x-hermes-session-key': 'shared' });
  assert.deepEqual(lastMessages(), [['user', 'hi']]);
  await api.world.say('from Telegram');
  await until(() => api.world.shown().some((text) => text.includes('re: from Telegram')), 'the answer in Telegram');
  const [chat] = await api.inside.store.read((db) => db.q.selectFrom('sessions').select('id').where('account', '=', 'telegram').execute());
  assert.equal((await api.post(path, say('hi'), { 'x-hermes-session-id': chat?.id ?? '' })).status, 404);
});

test('calls of one conversation are answered one after the other, each with its own answer', async () => {
  const headers = { 'x-hermes-session-key': 'busy' };
  const answers = await Promise.all(['a', 'b', 'c'].map(async (text) => contentOf(await api.post(path, say(text), headers))));
  assert.deepEqual(answers, ['re: a', 're: b', 're: c']);
});

test('a client’s tool is called and answered across two calls of a conversation', async () => {
  const headers = { 'x-hermes-session-key': 'tools' };
  const tools = [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object', properties: {} } } }];
  api.world.model.next(calls({ id: 'call_7', name: 'get_weather', arguments: '{}' }));
  const first = (await (await api.post(path, { ...say('weather?'), tools }, headers)).json()) as OpenAI.ChatCompletion;
  assert.equal(first.choices[0]?.finish_reason, 'tool_calls');
  api.world.model.next(says('Sunny.'));
  const messages = [...say('weather?').messages, first.choices[0]?.message, { role: 'tool', tool_call_id: 'call_7', content: 'sun' }];
  assert.equal(await contentOf(await api.post(path, { model: 'hermes', messages, tools }, headers)), 'Sunny.');
  assert.deepEqual(lastMessages().map(([role]) => role), ['user', 'assistant', 'tool']);
});

test('a client that goes away stops its turn and frees the conversation for the next call', async () => {
  const headers = { 'x-hermes-session-key': 'gone', 'content-type': 'application/json' };
  const seen = api.world.model.requests.length;
  api.world.model.next(silence);
  const leave = new AbortController();
  const asked = api.ask(path, { method: 'POST', body: JSON.stringify(say('slow')), headers, signal: leave.signal });
  await until(() => api.world.model.requests.length > seen, 'the turn to run');
  leave.abort();
  await assert.rejects(asked);
  // What was said stays said, although nobody waited for its answer.
  assert.equal(await contentOf(await api.post(path, say('next'), headers)), 're: slow\n\nnext');
});

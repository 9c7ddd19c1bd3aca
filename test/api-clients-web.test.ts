import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type OpenAI from 'openai';
import { says } from '../src/agent/models/chat-simulator.ts';
import { ownerKey, readFrames, startApiGateway } from './support/api-gateway.ts';
import type { ApiGateway } from './support/api-gateway.ts';

let api: ApiGateway;
before(async () => {
  api = await startApiGateway({ api: { cors_origins: ['https://chat.example.org'] } });
});
after(() => api[Symbol.asyncDispose]());

const path = '/v1/chat/completions';
const png = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const lastMessages = () => (api.world.model.requests.at(-1)?.body.messages ?? []).slice(1);
const sessions = () => api.inside.store.read((db) => db.q.selectFrom('sessions').select('id').execute());
const contentOf = async (response: Response): Promise<string | null | undefined> => {
  assert.equal(response.status, 200, await response.clone().text());
  return ((await response.json()) as OpenAI.ChatCompletion).choices[0]?.message.content;
};
const textOf = async (response: Response): Promise<string> => {
  assert.equal(response.status, 200, await response.clone().text());
  const frames = await readFrames(response);
  assert.equal(frames.at(-1)?.data, '[DONE]');
  return frames.slice(0, -1).map(({ data = '' }) => (JSON.parse(data) as OpenAI.ChatCompletionChunk).choices[0]?.delta.content ?? '').join('');
};

/** As Open WebUI sends them when it may say who its user is. */
const openWebUi = { 'x-openwebui-user-name': 'Ada', 'x-openwebui-user-id': 'u-1', 'x-openwebui-user-email': 'ada@example.org', 'x-openwebui-user-role': 'admin', 'x-openwebui-chat-id': 'c-1' };

const sideCalls: Readonly<Record<string, string>> = {
  'a title of Open WebUI': '### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n### Output:\nJSON format: { "title": "..." }\n### Chat History:\n<chat_history>\nUSER: hello\nASSISTANT: re: hello\n</chat_history>',
  'tags of Open WebUI': '### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history.\n### Chat History:\n<chat_history>\nUSER: hello\n</chat_history>',
  'questions that could follow, of Open WebUI': '### Task:\nSuggest 3-5 relevant follow-up questions.\n### Chat History:\n<chat_history>\nUSER: hello\n</chat_history>',
  'a title of LibreChat': 'Provide a concise, 5-word-or-less title for the conversation, using title case conventions. Only return the title itself.\n\nConversation:\nUser: hello\nAI: re: hello',
  'a title of LibreChat with its language': 'Analyze this conversation and provide:\n1. The detected language of the conversation\n2. A concise title in the detected language\n\nUser: hello',
};

test('the list of models is found as web clients look for it', async () => {
  for (const where of ['/v1/models', '/v1/models?limit=100']) {
    const list = (await (await api.ask(where, { headers: openWebUi })).json()) as { object: string; data: { id: string; object: string; owned_by: string }[] };
    assert.deepEqual([list.object, list.data.map(({ id }) => id)], ['list', ['hermes', 'hermes/main']]);
  }
  const page = await api.ask('/v1/models', { headers: { origin: 'https://chat.example.org' } });
  assert.equal(page.headers.get('access-control-allow-origin'), 'https://chat.example.org');
});

test('a page of an allowed origin may ask first and then call', async () => {
  const asked = await fetch(`${api.url}${path}`, { method: 'OPTIONS', headers: { origin: 'https://chat.example.org', 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,content-type' } });
  assert.equal(asked.status, 204);
  assert.match(asked.headers.get('access-control-allow-headers') ?? '', /Authorization, Content-Type/);
  const answered = await api.post(path, { model: 'hermes', messages: [{ role: 'user', content: 'hello' }], stream: true }, { origin: 'https://chat.example.org' });
  assert.equal(answered.headers.get('access-control-allow-origin'), 'https://chat.example.org');
  assert.equal(await textOf(answered), 're: hello');
});

test('Open WebUI chats: with parameters of its own, a system prompt, pictures, and itself as the user', async () => {
  const body = {
    stream: true,
    model: 'hermes',
    messages: [{ role: 'system', content: 'User Context:\n\nAda' }, { role: 'user', content: 'one' }, { role: 'assistant', content: 're: one' }, { role: 'user', content: [{ type: 'text', text: 'What is this?' }, { type: 'image_url', image_url: { url: png } }] }],
    stream_options: { include_usage: true },
    temperature: 0.8,
    seed: 7,
    top_k: 40,
    num_ctx: 4096,
    logit_bias: {},
    stop: ['###'],
    max_tokens: 128,
    user: { name: 'Ada', id: 'u-1', email: 'ada@example.org', role: 'admin' },
    metadata: { chat_id: 'c-1' },
  };
  const frames = await readFrames(await api.post(path, body, openWebUi));
  assert.equal(frames.at(-1)?.data, '[DONE]');
  assert.equal((JSON.parse(frames.at(-2)?.data ?? '') as OpenAI.ChatCompletionChunk).usage?.total_tokens, 120);
  assert.ok(JSON.stringify(lastMessages().at(-1)).includes(png));
});

test('LibreChat chats: with its default parameters and names of who speaks', async () => {
  const messages = [{ role: 'system', name: 'instructions', content: 'Be brief.' }, { role: 'user', content: 'one' }, { role: 'assistant', name: 'Hermes', content: 're: one' }, { role: 'user', content: [{ type: 'text', text: 'two' }] }];
  const body = { model: 'hermes', temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0, user: '65f0c0ffee', stream: true, stream_options: { include_usage: true }, n: 1, messages };
  assert.equal(await textOf(await api.post(path, body, { 'user-agent': 'OpenAI/JS 5.0.0', 'x-stainless-lang': 'js', 'x-stainless-retry-count': '0' })), 're: two');
  assert.deepEqual(lastMessages().map((message) => message['role']), ['user', 'assistant', 'user']);
});

test('what is asked beside a conversation leaves nothing behind', async () => {
  for (const [what, content] of Object.entries(sideCalls)) {
    api.world.model.next(says('{"title": "👋 Hello"}'));
    assert.equal(await contentOf(await api.post(path, { model: 'hermes', messages: [{ role: 'user', content }], stream: false, max_completion_tokens: 1000 }, openWebUi)), '{"title": "👋 Hello"}', what);
  }
  assert.deepEqual(await sessions(), []);
});

test('what is asked beside a conversation is no part of it, also when the call names it', async () => {
  const headers = { 'x-hermes-session-key': 'c-1' };
  const say = (content: string) => api.post(path, { model: 'hermes', messages: [{ role: 'user', content }] }, headers);
  await say('hello');
  for (const [what, content] of Object.entries(sideCalls)) {
    const answered = await say(content);
    assert.equal(answered.headers.get('x-hermes-session-id'), null, what);
    assert.equal(lastMessages().length, 1, what);
  }
  await say('and now?');
  assert.deepEqual(lastMessages().map((message) => message['content']), ['hello', 're: hello', 'and now?']);
  assert.equal((await sessions()).length, 1);
});

test('a question that only looks like one asked beside the conversation is part of it', async () => {
  const headers = { 'x-hermes-session-key': 'c-2' };
  const withContext = '### Task:\nRespond to the user query using the provided context.\n<context>\n<source id="1">a page</source>\n</context>\n\nWhat does it say?';
  const answered = await api.post(path, { model: 'hermes', messages: [{ role: 'user', content: withContext }] }, headers);
  assert.notEqual(answered.headers.get('x-hermes-session-id'), null);
  await api.post(path, { model: 'hermes', messages: [{ role: 'user', content: [{ type: 'text', text: 'And this?' }, { type: 'image_url', image_url: { url: png } }] }] }, headers);
  assert.equal(lastMessages().length, 3);
});

test('the key may come in the forms that clients write it', async () => {
  for (const authorization of [`Bearer ${ownerKey}`, `bearer ${ownerKey}`, `Bearer  ${ownerKey}`]) assert.equal((await api.ask('/v1/models', { headers: { authorization } })).status, 200, authorization);
});

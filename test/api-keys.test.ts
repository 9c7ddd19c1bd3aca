import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { silence } from '../src/agent/models/chat-simulator.ts';
import { program } from '../src/cli/program.ts';
import { addApiSpend } from '../src/store/api/api-keys.ts';
import { startApiGateway } from './support/api-gateway.ts';
import type { ApiGateway } from './support/api-gateway.ts';
import { specOf } from './support/json-schema.ts';
import { until } from './support/whole.ts';

const openai = specOf('openai');
const hello = { model: 'hermes', messages: [{ role: 'user' as const, content: 'hello' }] };

let api: ApiGateway;
before(async () => {
  api = await startApiGateway({ api: { cors_origins: ['https://chat.example.org'], max_concurrent_requests: 2 }, config: { agents: { support: { model: 'sim-support' } }, routes: [{ match: { platform: 'api_server', chat_id: 'helpdesk' }, agent: 'support' }] } });
});
after(() => api[Symbol.asyncDispose]());

/** What a command of the CLI prints, beside the running gateway. */
const hermes = async (...args: readonly string[]): Promise<string> => {
  let printed = '';
  const write = (text: string): void => void (printed += text);
  await program({ env: api.world.env, version: 'test', write, writeError: write }).parseAsync(['node', 'hermes', ...args]);
  return printed;
};

const newKey = async (name: string, ...flags: readonly string[]): Promise<string> => /hk_\S+/.exec(await hermes('api', 'keys', 'create', name, ...flags))?.[0] ?? '';

const codeOf = async (response: Response): Promise<readonly [number, string]> => {
  const body = (await response.json()) as { error: { code: string } };
  openai('ErrorResponse', body);
  return [response.status, body.error.code];
};

test('every agent is a model, and others do not exist', async () => {
  const list = await (await api.ask('/v1/models')).json();
  openai('ListModelsResponse', list);
  assert.deepEqual((list as { data: { id: string }[] }).data.map(({ id }) => id), ['hermes', 'hermes/main', 'hermes/support']);
  openai('Model', await (await api.ask('/v1/models/hermes/support')).json());
  assert.equal((await api.client().models.retrieve('hermes')).owned_by, 'hermes');
  await assert.rejects(api.client().models.retrieve('gpt-4'), OpenAI.NotFoundError);
});

test('the capabilities name what is served, and the health says how it is', async () => {
  const { endpoints } = (await (await api.ask('/v1/capabilities')).json()) as { endpoints: Record<string, { method: string; path: string }> };
  assert.deepEqual(endpoints['chat_completions'], { method: 'POST', path: '/v1/chat/completions' });
  assert.deepEqual(endpoints['model'], { method: 'GET', path: '/v1/models/{id}' });
  const page = readFileSync(new URL('../docs/api.md', import.meta.url), 'utf8');
  for (const { method, path } of Object.values(endpoints)) assert.ok(page.includes(`${method} ${path}`), `docs/api.md does not say ${method} ${path}`);
  const health = (await (await api.ask('/health/detailed')).json()) as { status: string; platforms: Record<string, { state: string }> };
  assert.equal(health.status, 'ok');
  assert.equal(health.platforms['telegram']?.state, 'connected');
  assert.equal((await fetch(`${api.url}/health/detailed`)).status, 401);
  assert.equal((await fetch(`${api.url}/health`)).status, 200);
});

test('a key works at once, is dead at once when it is rotated or revoked, and is kept as a hash', async () => {
  const first = await newKey('laptop');
  assert.equal((await api.client(first).models.list()).data.length, 3);
  const second = /hk_\S+/.exec(await hermes('api', 'keys', 'rotate', 'laptop'))?.[0] ?? '';
  await assert.rejects(api.client(first).models.list(), OpenAI.AuthenticationError);
  assert.equal((await api.client(second).models.list()).data.length, 3);
  const rows = await api.inside.store.read((db) => db.q.selectFrom('api_keys').selectAll().execute());
  assert.ok(!JSON.stringify(rows).includes(second));
  assert.match(await hermes('api', 'keys', 'list'), /laptop {2}hk_.{4}… {2}chat,sessions {2}\s*used \d+ s ago/);
  await assert.rejects(hermes('api', 'keys', 'create', 'laptop'), /already/);
  await hermes('api', 'keys', 'revoke', 'laptop');
  await assert.rejects(api.client(second).models.list(), OpenAI.AuthenticationError);
  await assert.rejects(hermes('api', 'keys', 'revoke', 'laptop'), /no key called laptop/);
});

test('a key does only what its scopes allow', async () => {
  const key = await newKey('narrow', '--scope', 'sessions');
  const authorization = { authorization: `Bearer ${key}` };
  assert.deepEqual(await codeOf(await api.post('/v1/chat/completions', hello, authorization)), [403, 'insufficient_scope']);
  assert.deepEqual(await codeOf(await api.ask('/health/detailed', { headers: authorization })), [403, 'insufficient_scope']);
});

test('a key that asks too often, too much at once or has spent its day is told to wait', async () => {
  const often = { authorization: `Bearer ${await newKey('often', '--per-minute', '1')}` };
  assert.equal((await api.post('/v1/chat/completions', hello, often)).status, 200);
  const refused = await api.post('/v1/chat/completions', hello, often);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  assert.deepEqual(await codeOf(refused), [429, 'rate_limit_exceeded']);

  const single = { authorization: `Bearer ${await newKey('single', '--at-once', '1')}` };
  api.world.model.next(silence);
  const leave = new AbortController();
  const before = api.world.model.requests.length;
  const waiting = api.ask('/v1/chat/completions', { method: 'POST', body: JSON.stringify(hello), headers: { 'content-type': 'application/json', ...single }, signal: leave.signal });
  await until(() => api.world.model.requests.length > before, 'the first call to be under way');
  assert.deepEqual(await codeOf(await api.post('/v1/chat/completions', hello, single)), [429, 'rate_limit_exceeded']);
  leave.abort();
  await assert.rejects(waiting);
  await until(async () => (await api.post('/v1/chat/completions', hello, single)).status === 200, 'the place to be free again');

  const dear = { authorization: `Bearer ${await newKey('dear', '--usd-per-day', '2')}` };
  const [row] = await api.inside.store.read((db) => db.q.selectFrom('api_keys').select('id').where('name', '=', 'dear').execute());
  await api.inside.store.write((tx) => addApiSpend(tx, { keyId: row?.id ?? '', day: new Date().toISOString().slice(0, 10), usd: 2.5 }));
  const spent = await api.post('/v1/chat/completions', hello, dear);
  assert.ok(Number(spent.headers.get('retry-after')) > 0);
  assert.deepEqual(await codeOf(spent), [429, 'insufficient_quota']);
});

test('more answers at once than the gateway wants to work on are refused', async () => {
  api.world.model.next(silence, silence);
  const leave = new AbortController();
  const before = api.world.model.requests.length;
  const waiting = [1, 2].map(() => api.ask('/v1/chat/completions', { method: 'POST', body: JSON.stringify(hello), headers: { 'content-type': 'application/json' }, signal: leave.signal }));
  await until(() => api.world.model.requests.length === before + 2, 'both to be under way');
  assert.deepEqual(await codeOf(await api.post('/v1/chat/completions', hello)), [429, 'rate_limit_exceeded']);
  leave.abort();
  for (const each of waiting) await assert.rejects(each);
  await until(() => api.inside.gateway.api.running === 0, 'both to be given up');
});

test('pages of other origins may call only when they are on the list', async () => {
  const allowed = { origin: 'https://chat.example.org' };
  const preflight = await fetch(`${api.url}/v1/chat/completions`, { method: 'OPTIONS', headers: { ...allowed, 'access-control-request-method': 'POST' } });
  assert.equal(preflight.status, 204);
  assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /Authorization/);
  const streamed = await api.post('/v1/chat/completions', { ...hello, stream: true }, allowed);
  assert.equal(streamed.headers.get('access-control-allow-origin'), 'https://chat.example.org');
  assert.equal(streamed.headers.get('vary'), 'Origin');
  await streamed.text();
  assert.deepEqual(await codeOf(await api.ask('/v1/models', { headers: { origin: 'https://evil.example.org' } })), [403, 'origin_not_allowed']);
});

test('the routes decide who answers, by the headers or by default; two calls at once stay apart', async () => {
  const answer = async (headers: Readonly<Record<string, string>>, text: string): Promise<string> => {
    const response = await api.post('/v1/chat/completions', { model: 'hermes', messages: [{ role: 'user', content: text }] }, headers);
    return ((await response.json()) as OpenAI.ChatCompletion).choices[0]?.message.content ?? '';
  };
  assert.deepEqual(await Promise.all([answer({ 'x-hermes-chat-id': 'helpdesk' }, 'one'), answer({}, 'two')]), ['re: one', 're: two']);
  const models = api.world.model.requests.slice(-2).map(({ body }) => [body.messages.at(-1)?.['content'], body['model']]);
  assert.deepEqual(Object.fromEntries(models), { one: 'sim-support', two: 'sim-1' });
  for (const name of ['X-Hermes-Chat-Id', 'X-Hermes-User-Id', 'X-Hermes-Thread-Id']) {
    assert.deepEqual(await codeOf(await api.post('/v1/chat/completions', hello, { [name]: 'k'.repeat(257) })), [400, 'invalid_header']);
    assert.deepEqual(await codeOf(await api.post('/v1/chat/completions', hello, { [name]: 'a\tb' })), [400, 'invalid_header']);
  }
});

test('whoever guesses keys is made to wait, also between calls with a right key', async () => {
  const mine = await newKey('guesser');
  const codes: number[] = [];
  const call = async (key: string): Promise<Response> => fetch(`${api.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  // Other tests of this file have used up some of the tries.
  while (codes.length < 10 && (await call(mine)).status === 200) codes.push((await call(`guess-${codes.length}`)).status);
  assert.deepEqual(new Set(codes), new Set([401]));
  const refused = await call(mine);
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
});

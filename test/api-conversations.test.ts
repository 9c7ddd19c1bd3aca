import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calls, chunkOf, raw, silence, status } from '../src/agent/models/chat-simulator.ts';
import { newApiSecret } from '../src/http/api/secret.ts';
import { createApiKey } from '../src/store/api/api-keys.ts';
import type { ApiScope } from '../src/store/api/api-keys.ts';
import { openApiGateway, readFrames } from './support/api-gateway.ts';
import { until } from './support/whole.ts';

const { world, api } = await openApiGateway({ agents: { support: {} } });

const path = '/api/sessions';

type Json = Readonly<Record<string, unknown>>;

const json = async (response: Response): Promise<Json> => (await response.json()) as Json;
const patch = (where: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> => api.ask(where, { method: 'PATCH', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } });
const remove = (where: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> => api.ask(where, { method: 'DELETE', headers });

const create = async (body: Json = {}, headers: Readonly<Record<string, string>> = {}): Promise<Json & { readonly id: string }> => {
  const response = await api.post(path, body, headers);
  assert.equal(response.status, 201, await response.clone().text());
  const made = await json(response);
  assert.equal(made['object'], 'hermes.session');
  return made['session'] as Json & { readonly id: string };
};

const codeOf = async (response: Response): Promise<readonly [number, string | null]> => {
  const { error } = (await response.json()) as { error: { code: string | null } };
  assert.deepEqual(Object.keys(error).toSorted(), ['code', 'message', 'param', 'type']);
  return [response.status, error.code];
};

const say = async (id: string, message: unknown): Promise<Json> => {
  const response = await api.post(`${path}/${id}/chat`, { message });
  assert.equal(response.status, 200, await response.clone().text());
  return json(response);
};

const textsOf = async (id: string): Promise<readonly unknown[]> => ((await json(await api.ask(`${path}/${id}/messages`)))['data'] as readonly Json[]).map((message) => message['content']);
const lastMessages = () => (world.model.requests.at(-1)?.body.messages ?? []).filter((message) => message['role'] !== 'system').map((message) => message['content']);

const otherKey = async (name: string, scopes: readonly ApiScope[]): Promise<Readonly<Record<string, string>>> => {
  const { secret, ...hashed } = newApiSecret();
  await api.inside.store.write((tx) => createApiKey(tx, { id: name, name, scopes, limits: {}, ...hashed }));
  return { authorization: `Bearer ${secret}` };
};

test('a session is opened, talked in, renamed, listed and looked through', async () => {
  const session = await create({ title: 'Plans', system_prompt: 'Speak like a pirate.', model: 'hermes/support' });
  assert.deepEqual([session['title'], session['agent'], session['model'], session['message_count'], session['ended_at']], ['Plans', 'support', 'hermes/support', 0, null]);
  const answer = await say(session.id, 'hello');
  assert.deepEqual(answer, { object: 'hermes.session.chat.completion', session_id: session.id, message: { role: 'assistant', content: 're: hello' }, usage: { input_tokens: 100, output_tokens: 20, total_tokens: 120 } });
  assert.match(JSON.stringify(world.model.requests.at(-1)?.body.messages[0]), /Speak like a pirate\./);
  await say(session.id, [{ type: 'text', text: 'again' }]);
  assert.deepEqual(lastMessages(), ['hello', 're: hello', 'again']);
  assert.deepEqual(await textsOf(session.id), ['hello', 're: hello', 'again', 're: again']);
  const renamed = (await json(await patch(`${path}/${session.id}`, { title: 'Better plans' })))['session'] as Json;
  assert.deepEqual([renamed['title'], renamed['message_count']], ['Better plans', 4]);
  const listed = await json(await api.ask(`${path}?limit=1`));
  assert.deepEqual([listed['object'], listed['limit'], listed['offset'], (listed['data'] as readonly Json[])[0]?.['id']], ['list', 1, 0, session.id]);
});

test('messages and sessions come in pages', async () => {
  const { id } = await create();
  await create();
  await say(id, 'one');
  await say(id, 'two');
  const first = await json(await api.ask(`${path}/${id}/messages?limit=3`));
  const rows = first['data'] as readonly { id: number }[];
  assert.deepEqual([rows.length, first['has_more'], first['session_id']], [3, true, id]);
  const rest = await json(await api.ask(`${path}/${id}/messages?limit=3&after=${rows.at(-1)?.id}`));
  assert.deepEqual([(rest['data'] as readonly Json[]).map((message) => message['content']), rest['has_more']], [['re: two'], false]);
  const one = await json(await api.ask(`${path}?limit=1`));
  const two = await json(await api.ask(`${path}?limit=1&offset=1`));
  assert.equal(one['has_more'], true);
  assert.notDeepEqual(one['data'], two['data']);
});

test('a stream tells how the answer is made, with tools, numbered', async () => {
  const { id } = await create();
  world.model.next(calls({ id: 'call_1', name: 'current_time', arguments: '{}' }));
  const response = await api.post(`${path}/${id}/chat/stream`, { input: 'What time is it?' });
  assert.equal(response.headers.get('x-hermes-session-id'), id);
  const frames = (await readFrames(response)).filter(({ event }) => event !== undefined);
  assert.deepEqual(frames.map(({ event }) => event).filter((name, index, all) => name !== all[index - 1]), ['run.started', 'message.started', 'tool.started', 'tool.completed', 'assistant.delta', 'assistant.completed', 'run.completed', 'done']);
  const data = frames.map((frame) => JSON.parse(frame.data ?? '') as Json);
  assert.deepEqual(data.map(({ seq }) => seq), data.map((_, index) => index));
  assert.ok(data.every((each) => each['session_id'] === id && typeof each['ts'] === 'number' && each['run_id'] === data[0]?.['run_id']));
  assert.equal(data[0]?.['user_message'], 'What time is it?');
  assert.equal(data.flatMap((each) => each['delta'] ?? []).join(''), 're: What time is it?');
});

test('a model that fails is an error before the stream and within it', async () => {
  const { id } = await create();
  for (const where of ['chat', 'chat/stream']) {
    world.model.next(status(429, 'slow down'));
    assert.deepEqual(await codeOf(await api.post(`${path}/${id}/${where}`, { message: 'x' })), [429, 'rate_limit_exceeded'], where);
  }
  world.model.next(raw([`data: ${JSON.stringify(chunkOf({ content: 'half ' }))}\n\n`], { then: 'cut' }));
  const frames = await readFrames(await api.post(`${path}/${id}/chat/stream`, { message: 'x' }));
  assert.deepEqual(frames.slice(-2).map(({ event }) => event), ['error', 'done']);
  assert.equal((JSON.parse(frames.at(-2)?.data ?? '') as Json)['type'], 'server_error');
});

test('a fork goes on by itself with all that was said, and the original ends', async () => {
  const session = await create({ title: 'Trip', system_prompt: 'Be brief.' });
  await say(session.id, 'one');
  const fork = (await json(await api.post(`${path}/${session.id}/fork`, {})))['session'] as Json & { id: string };
  assert.deepEqual([fork['title'], fork['parent_session_id'], fork['system_prompt']], ['Trip (2)', session.id, 'Be brief.']);
  await say(fork.id, 'two');
  assert.deepEqual(lastMessages(), ['one', 're: one', 'two']);
  assert.deepEqual(await textsOf(session.id), ['one', 're: one']);
  const parent = (await json(await api.ask(`${path}/${session.id}`)))['session'] as Json;
  assert.equal(parent['end_reason'], 'branched');
  const again = (await json(await api.post(`${path}/${fork.id}/fork`, { id: 'api_mine', title: 'Own' })))['session'] as Json;
  assert.deepEqual([again['id'], again['title']], ['api_mine', 'Own']);
});

test('a session that is deleted is gone with everything said in it', async () => {
  const session = await create();
  const said = (await json(await api.post('/v1/responses', { model: 'hermes', input: 'a secret word' }, { 'x-hermes-session-id': session.id }))) as Json;
  assert.deepEqual(await json(await remove(`${path}/${session.id}`)), { object: 'hermes.session.deleted', id: session.id, deleted: true });
  assert.equal((await api.ask(`${path}/${session.id}`)).status, 404);
  assert.equal((await api.ask(`/v1/responses/${String(said['id'])}`)).status, 404);
  const left = await api.inside.store.read(async (db) => [
    ...(await db.q.selectFrom('messages').select('content').where('session_id', '=', session.id).execute()),
    ...(await db.q.selectFrom('inbox').select('event').where('session_id', '=', session.id).execute()),
  ]);
  assert.deepEqual(left, []);
});

test('what is said twice under the same Idempotency-Key is said once', async () => {
  const { id } = await create();
  const headers = { 'idempotency-key': 'say-1' };
  const first = await json(await api.post(`${path}/${id}/chat`, { message: 'once' }, headers));
  const again = await api.post(`${path}/${id}/chat`, { message: 'once' }, headers);
  assert.deepEqual([again.headers.get('idempotency-replayed'), await json(again)], ['true', first]);
  assert.deepEqual(await textsOf(id), ['once', 're: once']);
  assert.deepEqual(await codeOf(await api.post(`${path}/${id}/chat`, { message: 'twice' }, headers)), [409, 'idempotency_key_conflict']);
});

test('a session in which something is being answered is neither forked nor deleted', async () => {
  const { id } = await create();
  const seen = world.model.requests.length;
  world.model.next(silence);
  const leave = new AbortController();
  const asked = api.ask(`${path}/${id}/chat`, { method: 'POST', body: JSON.stringify({ message: 'slow' }), headers: { 'content-type': 'application/json' }, signal: leave.signal });
  await until(() => world.model.requests.length > seen, 'the turn to run');
  assert.deepEqual(await codeOf(await remove(`${path}/${id}`)), [409, 'session_busy']);
  assert.deepEqual(await codeOf(await api.post(`${path}/${id}/fork`, {})), [409, 'session_busy']);
  leave.abort();
  await assert.rejects(asked);
  await until(async () => (await remove(`${path}/${id}`)).status === 200, 'the turn to end with its client');
});

test('one key’s sessions do not exist for another, and a scope is needed', async () => {
  const mine = await create({ title: 'Mine' });
  const stranger = await otherKey('stranger', ['sessions']);
  const theirs = await create({}, stranger);
  for (const [method, where] of [['GET', ''], ['DELETE', ''], ['GET', '/messages']] as const) assert.deepEqual(await codeOf(await api.ask(`${path}/${mine.id}${where}`, { method, headers: stranger })), [404, 'session_not_found'], where);
  for (const where of ['/chat', '/chat/stream', '/fork']) assert.deepEqual(await codeOf(await api.post(`${path}/${mine.id}${where}`, { message: 'x' }, stranger)), [404, 'session_not_found'], where);
  assert.deepEqual(await codeOf(await patch(`${path}/${mine.id}`, { title: 'Stolen' }, stranger)), [404, 'session_not_found']);
  const listed = (await json(await api.ask(path, { headers: stranger })))['data'] as readonly Json[];
  assert.deepEqual(listed.map(({ id }) => id), [theirs.id]);
  assert.deepEqual(await codeOf(await api.ask(path, { headers: await otherKey('talker', ['chat']) })), [403, 'insufficient_scope']);
  assert.equal((await fetch(`${api.url}${path}`)).status, 401);
});

test('wrong requests have their own errors', async () => {
  const { id } = await create({ id: 'api_known', title: 'Taken' });
  assert.equal(id, 'api_known');
  const creates: readonly (readonly [unknown, number, string])[] = [
    [{ id: 'api_known' }, 409, 'session_exists'],
    [{ session_id: 'cron_x_1' }, 400, 'invalid_session_id'],
    [{ id: 'api_../up' }, 400, 'invalid_session_id'],
    [{ title: 'Taken' }, 409, 'invalid_title'],
    [{ title: 5 }, 400, 'invalid_type'],
    [{ model: 'gpt-4' }, 404, 'model_not_found'],
    [[], 400, 'invalid_type'],
  ];
  for (const [body, wanted, code] of creates) assert.deepEqual(await codeOf(await api.post(path, body)), [wanted, code], JSON.stringify(body));
  assert.deepEqual(await codeOf(await patch(`${path}/${id}`, { model: 'hermes' })), [400, 'unsupported_session_field']);
  assert.deepEqual(await codeOf(await api.post(`${path}/${id}/chat`, { message: ' ' })), [400, 'missing_message']);
  assert.deepEqual(await codeOf(await api.post(`${path}/${id}/chat`, {})), [400, 'missing_message']);
  assert.deepEqual(await codeOf(await api.ask(`${path}?limit=900`)), [400, 'invalid_value']);
  assert.deepEqual(await codeOf(await api.ask(`${path}/${id}`, { method: 'PUT' })), [405, 'method_not_allowed']);
  assert.deepEqual(await codeOf(await api.ask(`${path}/${id}/nothing`)), [404, 'unknown_url']);
});

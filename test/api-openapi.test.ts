import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { calls } from '../src/agent/models/chat-simulator.ts';
import { apiApp } from '../src/http/api/app.ts';
import { apiOptions } from '../src/http/api/options.ts';
import { systemClock } from '../src/lib/clock.ts';
import { silentLogger } from '../src/lib/logger.ts';
import { readFrames, startApiGateway } from './support/api-gateway.ts';
import type { ApiGateway } from './support/api-gateway.ts';
import { checkerOf } from './support/json-schema.ts';
import { until } from './support/whole.ts';

interface Content {
  readonly schema: { readonly $ref: string };
}
interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Readonly<Record<string, unknown>> }>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
}
interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
}

let api: ApiGateway;
let document: Document;
before(async () => {
  api = await startApiGateway();
  document = (await (await api.ask('/v1/openapi.json')).json()) as Document;
});
after(() => api[Symbol.asyncDispose]());

/** How hono writes it. */
const shown = (path: string): string => path.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, '{$1}');
const named = (): readonly string[] => Object.entries(document.paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`));

test('the document and the app have the same calls, and every name in it leads somewhere', () => {
  const app = apiApp({ options: apiOptions.parse({}), trustedProxies: [], version: 'test', store: api.inside.store, clock: systemClock, log: silentLogger, readiness: () => ({ ready: true, accounts: [] }), gate: () => undefined });
  const served = app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${shown(path)}`);
  assert.deepEqual(named().toSorted(), [...new Set(served)].toSorted());
  const refs = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name ?? '');
  assert.deepEqual(refs.filter((name) => document.components.schemas[name] === undefined), []);
  assert.deepEqual(Object.keys(document.components.schemas).filter((name) => !refs.includes(name)), []);
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const operation of Object.values(methods)) assert.deepEqual(operation.parameters.filter(({ in: where }) => where === 'path').map(({ name }) => name), [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name), path);
  }
  assert.match(document.openapi, /^3\.1\./);
});

test('the capabilities name the same calls', async () => {
  const { endpoints } = (await (await api.ask('/v1/capabilities')).json()) as { endpoints: Readonly<Record<string, { method: string; path: string }>> };
  assert.deepEqual(Object.values(endpoints).map(({ method, path }) => `${method} ${path}`).toSorted(), [...named()].toSorted());
});

const isAt = (template: string, path: string): boolean => new RegExp(`^${template.replaceAll(/[.]/g, String.raw`\.`).replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);

/** Calls, and holds the answer against what the document says of it. */
const called = new Set<string>();
const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
  const response = body === undefined ? await api.ask(path, { method }) : await api.ask(path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
  const bare = path.split('?', 1)[0] ?? '';
  const [template, methods] = Object.entries(document.paths).find(([each]) => each === bare) ?? Object.entries(document.paths).find(([each]) => isAt(each, bare)) ?? assert.fail(`the document has no ${bare}`);
  const operation = methods[method.toLowerCase()] ?? assert.fail(`the document has no ${method} ${template}`);
  called.add(operation.operationId);
  const type = response.headers.get('content-type')?.split(';')[0] ?? '';
  const schema = (operation.responses[response.status] ?? operation.responses['default'])?.content?.[type]?.schema.$ref.split('/').at(-1) ?? assert.fail(`${method} ${template}: nothing is said about ${response.status} ${type}: ${await response.text()}`);
  const check = checkerOf(document);
  if (type !== 'text/event-stream') {
    const answer: unknown = await response.json();
    check(schema, answer);
    if (response.status >= 400) check('Error', answer);
    return answer;
  }
  const frames = (await readFrames(response)).flatMap(({ data }) => (data === undefined || data === '[DONE]' ? [] : [JSON.parse(data) as unknown]));
  assert.notEqual(frames.length, 0);
  for (const frame of frames) check(schema, frame);
  return frames;
};

test('every call answers as the document says, whole, streamed and refused', async () => {
  const { model } = api.world;
  for (const path of ['/v1/models', '/v1/models/hermes', '/v1/capabilities', '/v1/openapi.json', '/health/detailed', '/v1/models/nothing', '/v1/responses']) await call('GET', path);
  for (const stream of [false, true]) await call('POST', '/v1/chat/completions', { model: 'hermes', messages: [{ role: 'user', content: 'hello' }], stream });
  await call('POST', '/v1/chat/completions', {});
  await call('POST', '/v1/responses', { input: 'hello', stream: true });
  const { id: response } = (await call('POST', '/v1/responses', { input: 'hello' })) as { id: string };
  for (const [method, rest] of [['GET', ''], ['GET', '?stream=true'], ['GET', '/input_items'], ['POST', '/cancel'], ['DELETE', ''], ['GET', '']] as const) await call(method, `/v1/responses/${response}${rest}`, method === 'POST' ? {} : undefined);

  model.next(calls({ id: 'call_rm', name: 'terminal', arguments: JSON.stringify({ command: 'rm -rf ./nothing-here' }) }));
  const { run_id } = (await call('POST', '/v1/runs', { input: 'clean up' })) as { run_id: string };
  await until(async () => ((await call('GET', `/v1/runs/${run_id}`)) as { status: string }).status === 'waiting_for_approval', 'the run to ask');
  await call('POST', `/v1/runs/${run_id}/steer`, { input: 'quickly' });
  await call('POST', `/v1/runs/${run_id}/approval`, { choice: 'never mind' });
  await call('POST', `/v1/runs/${run_id}/approval`, { choice: 'once' });
  const events = (await call('GET', `/v1/runs/${run_id}/events`)) as readonly { event: string }[];
  assert.deepEqual([...new Set(events.map(({ event }) => event))], ['tool.started', 'approval.request', 'approval.responded', 'tool.completed', 'run.steered', 'message.delta', 'run.completed']);
  for (const [method, rest] of [['POST', '/stop'], ['GET', ''], ['POST', '/steer']] as const) await call(method, `/v1/runs/${run_id}${rest}`, method === 'POST' ? { input: 'x' } : undefined);

  const { session } = (await call('POST', '/api/sessions', { title: 'A' })) as { session: { id: string } };
  model.next(calls({ id: 'call_t', name: 'current_time', arguments: '{}' }));
  for (const [method, rest, body] of [['POST', '/chat', { message: 'hello' }], ['POST', '/chat/stream', { message: 'hello' }], ['GET', '/messages'], ['PATCH', '', { title: 'B' }], ['POST', '/fork', {}], ['GET', ''], ['DELETE', ''], ['GET', '']] as const) await call(method, `/api/sessions/${session.id}${rest}`, body);
  await call('GET', '/api/sessions');

  const { job } = (await call('POST', '/api/jobs', { name: 'n', schedule: 'every 24h', prompt: 'p' })) as { job: { id: string } };
  await call('POST', `/api/jobs/${job.id}/run`, {});
  await until(async () => ((await call('GET', `/api/jobs/${job.id}`)) as { job: { last_run: { state: string } | null } }).job.last_run?.state === 'ok', 'the job to run');
  for (const [method, rest, body] of [['POST', '/pause', {}], ['POST', '/resume', {}], ['PATCH', '', { name: 'm' }], ['DELETE', ''], ['GET', '']] as const) await call(method, `/api/jobs/${job.id}${rest}`, body);
  await call('GET', '/api/jobs');

  const all = Object.values(document.paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  assert.deepEqual(all.filter((name) => !called.has(name)), []);
});

test('bodies that the document describes are those that are checked', () => {
  const body = document.paths['/v1/runs']?.['post']?.requestBody?.content['application/json']?.schema;
  assert.deepEqual([body?.['required'], Object.keys((body?.['properties'] ?? {}) as object).toSorted()], [['input'], ['conversation_history', 'input', 'instructions', 'model', 'previous_response_id', 'session_id']]);
});

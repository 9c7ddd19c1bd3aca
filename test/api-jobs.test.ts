import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newApiSecret } from '../src/http/api/secret.ts';
import { readActs } from '../src/lib/audit-log.ts';
import { createApiKey } from '../src/store/api/api-keys.ts';
import type { ApiScope } from '../src/store/api/api-keys.ts';
import { startApiGateway } from './support/api-gateway.ts';
import type { ApiGateway } from './support/api-gateway.ts';
import { until } from './support/whole.ts';

let api: ApiGateway;
before(async () => {
  api = await startApiGateway();
});
after(() => api[Symbol.asyncDispose]());

const path = '/api/jobs';

type Json = Readonly<Record<string, unknown>>;
type Headers = Readonly<Record<string, string>>;

const jobOf = async (response: Response, wanted = 200): Promise<Json & { readonly id: string }> => {
  assert.equal(response.status, wanted, await response.clone().text());
  return ((await response.json()) as { job: Json & { id: string } }).job;
};
const create = async (body: Json, headers: Headers = {}): Promise<Json & { readonly id: string }> => jobOf(await api.post(path, body, headers), 201);
const patch = (id: string, body: unknown, headers: Headers = {}): Promise<Response> => api.ask(`${path}/${id}`, { method: 'PATCH', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } });
const list = async (query = '', headers: Headers = {}): Promise<readonly Json[]> => ((await (await api.ask(`${path}${query}`, { headers })).json()) as { jobs: Json[] }).jobs;
const codeOf = async (response: Response): Promise<readonly [number, string | null]> => {
  const { error } = (await response.json()) as { error: { code: string | null } };
  assert.deepEqual(Object.keys(error).toSorted(), ['code', 'message', 'param', 'type']);
  return [response.status, error.code];
};
const keyWith = async (name: string, scopes: readonly ApiScope[]): Promise<Headers> => {
  const { secret, ...hashed } = newApiSecret();
  await api.inside.store.write((tx) => createApiKey(tx, { id: name, name, scopes, limits: {}, ...hashed }));
  return { authorization: `Bearer ${secret}` };
};

test('a job is made, changed, paused, resumed, listed and deleted', async () => {
  const job = await create({ name: 'News', schedule: 'every 2h', prompt: 'What is new?', repeat: 3 });
  assert.match(job.id, /^[0-9a-f]{12}$/);
  assert.deepEqual([job['name'], job['agent'], job['state'], job['enabled'], job['deliver'], job['runs_left']], ['News', 'main', 'scheduled', true, 'local', 3]);
  assert.deepEqual(await jobOf(await api.ask(`${path}/${job.id}`)), job);
  const changed = await jobOf(await patch(job.id, { name: 'Old news', schedule: '0 9 * * 1', repeat: null }));
  assert.deepEqual([changed['name'], changed['runs_left'], changed['prompt']], ['Old news', null, 'What is new?']);
  assert.equal((await jobOf(await api.post(`${path}/${job.id}/pause`, {})))['state'], 'paused');
  assert.deepEqual([(await list()).length, (await list('?include_disabled=1')).length], [0, 1]);
  assert.equal((await jobOf(await api.post(`${path}/${job.id}/resume`, {})))['state'], 'scheduled');
  assert.equal((await jobOf(await patch(job.id, { enabled: false })))['enabled'], false);
  assert.equal((await jobOf(await patch(job.id, { enabled: true, prompt: 'And now?' })))['enabled'], true);
  assert.equal((await list()).length, 1);
  const gone = await api.ask(`${path}/${job.id}`, { method: 'DELETE' });
  assert.deepEqual(await gone.json(), { object: 'hermes.job.deleted', id: job.id, deleted: true });
  assert.deepEqual(await codeOf(await api.ask(`${path}/${job.id}`)), [404, 'job_not_found']);
});

test('what a key does to a job is in the audit log, and what changes nothing is not', async () => {
  const { id } = await create({ name: 'Planted', schedule: 'every 2h', prompt: 'x' }, await keyWith('planter', ['jobs']));
  await patch(id, { enabled: true });
  await patch(id, { enabled: false });
  await patch(id, { enabled: true, prompt: 'y' });
  await api.ask(`${path}/${id}`, { method: 'DELETE' });
  const acts = readActs(api.world.home).filter(({ subject }) => subject === `${id} (agent main, every 2h)`);
  assert.deepEqual(acts.map(({ by, act }) => [by, act]), [['api_server:planter', 'cron add'], ...['pause', 'edit', 'remove'].map((act) => ['api_server:owner', `cron ${act}`])]);
});

test('a job has a folder that it works in, and only one that the agent may use', async () => {
  const workspace = join(api.world.home, 'workspace', 'site');
  await mkdir(workspace, { recursive: true });
  const job = await create({ name: 'Site', schedule: 'every 2h', prompt: 'x', workdir: workspace });
  assert.equal(job['workdir'], workspace);
  const refused = await patch(job.id, { workdir: '/' });
  assert.match(await refused.clone().text(), /files\.roots/);
  assert.deepEqual(await codeOf(refused), [400, 'invalid_value']);
  assert.equal((await jobOf(await patch(job.id, { workdir: '' })))['workdir'], undefined);
  await api.ask(`${path}/${job.id}`, { method: 'DELETE' });
});

test('a job runs when it is told to, once for the same wish', async () => {
  const { id } = await create({ name: 'Now', schedule: 'every 24h', prompt: 'Say hello.' });
  for (const _ of [1, 2]) assert.equal((await api.post(`${path}/${id}/run`, {}, { 'idempotency-key': 'wish-1' })).status, 200);
  await until(async () => ((await jobOf(await api.ask(`${path}/${id}`)))['last_run'] as Json | null)?.['state'] === 'ok', 'the job to run');
  const runs = await api.inside.store.read((db) => db.q.selectFrom('cron_runs').select('output').where('job_id', '=', id).execute());
  assert.equal(runs.length, 1);
  assert.match(runs[0]?.output ?? '', /Say hello\./);
});

test('a key sees the jobs that it has made, one with the scope admin sees all', async () => {
  const owners = await create({ name: 'Owner’s', schedule: 'every 24h', prompt: 'x' });
  const worker = await keyWith('worker', ['jobs']);
  const own = await create({ name: 'Worker’s', schedule: 'every 24h', prompt: 'x' }, worker);
  assert.deepEqual((await list('', worker)).map(({ id }) => id), [own.id]);
  for (const [method, where] of [['GET', ''], ['DELETE', ''], ['POST', '/run'], ['POST', '/pause']] as const) assert.deepEqual(await codeOf(await api.ask(`${path}/${owners.id}${where}`, { method, headers: worker })), [404, 'job_not_found'], `${method} ${where}`);
  assert.deepEqual(await codeOf(await patch(owners.id, { name: 'x' }, worker)), [404, 'job_not_found']);
  assert.ok((await list()).some(({ id }) => id === own.id));
  assert.deepEqual(await codeOf(await api.ask(path, { headers: await keyWith('talker', ['chat', 'sessions']) })), [403, 'insufficient_scope']);
});

test('what a job may be is decided by the same rules as everywhere', async () => {
  const good = { name: 'n', schedule: 'every 24h', prompt: 'p' };
  const cases: readonly (readonly [unknown, number, string])[] = [
    [{ ...good, name: undefined }, 400, 'missing_required_parameter'],
    [{ ...good, schedule: undefined }, 400, 'missing_required_parameter'],
    [{ ...good, schedule: 'sometimes' }, 400, 'invalid_value'],
    [{ ...good, prompt: '' }, 400, 'invalid_value'],
    [{ ...good, agent: 'nobody' }, 400, 'invalid_value'],
    [{ ...good, deliver: 'origin' }, 400, 'invalid_value'],
    [{ ...good, deliver: 'nowhere:1' }, 400, 'invalid_value'],
    [{ ...good, script: '../../etc/passwd' }, 400, 'invalid_value'],
    [{ ...good, timezone: 'Mars/Base' }, 400, 'invalid_value'],
    [{ ...good, repeat: 'often' }, 400, 'invalid_type'],
    [{ ...good, colour: 'blue' }, 400, 'unsupported_job_field'],
    [{ ...good, name: 'x'.repeat(201) }, 400, 'invalid_value'],
    [[], 400, 'invalid_type'],
  ];
  for (const [body, wanted, code] of cases) assert.deepEqual(await codeOf(await api.post(path, body)), [wanted, code], JSON.stringify(body));
  const { id } = await create(good);
  assert.deepEqual(await codeOf(await api.post(`${path}/${id}/resume`, {})), [409, 'job_conflict']);
  assert.deepEqual(await codeOf(await patch(id, { agent: 'main' })), [400, 'unsupported_job_field']);
  assert.deepEqual(await codeOf(await api.ask(`${path}/short`)), [400, 'invalid_job_id']);
  assert.deepEqual(await codeOf(await api.ask(`${path}/0123456789ab`)), [404, 'job_not_found']);
  assert.deepEqual(await codeOf(await api.ask(`${path}/${id}`, { method: 'PUT' })), [405, 'method_not_allowed']);
});

test('a key without the scope admin has nothing delivered to chats that nobody knows', async () => {
  const headers = await keyWith('courier', ['jobs']);
  const body = { name: 'n', schedule: 'every 24h', prompt: 'p', deliver: 'telegram:999' };
  assert.deepEqual(await codeOf(await api.post(path, body, headers)), [403, 'delivery_not_allowed']);
  assert.equal((await create(body))['deliver'], 'telegram:999');
});

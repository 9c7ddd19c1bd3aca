import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { calls, chunkOf, says, silence, status } from '../src/agent/models/chat-simulator.ts';
import type { Answer } from '../src/agent/models/chat-simulator.ts';
import { newApiSecret } from '../src/http/api/secret.ts';
import { createApiKey } from '../src/store/api/api-keys.ts';
import type { ApiScope } from '../src/store/api/api-keys.ts';
import { newOpenaiWorld, readFrames, startApiGateway } from './support/api-gateway.ts';
import type { ApiGateway } from './support/api-gateway.ts';
import { until } from './support/whole.ts';
import type { World } from './support/whole.ts';

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

const path = '/v1/runs';

type Json = Readonly<Record<string, unknown>>;
interface RunEvent extends Json {
  readonly event: string;
}

const submit = async (body: Json, headers: Readonly<Record<string, string>> = {}): Promise<{ readonly run_id: string; readonly session_id: string }> => {
  const response = await api.post(path, body, headers);
  assert.equal(response.status, 202, await response.clone().text());
  return (await response.json()) as { run_id: string; session_id: string };
};

const runOf = async (id: string): Promise<Json> => (await (await api.ask(`${path}/${id}`)).json()) as Json;
const statusOf = async (id: string): Promise<unknown> => (await runOf(id))['status'];

const eventsOf = async (id: string, lastEventId?: string): Promise<{ readonly events: readonly RunEvent[]; readonly ids: readonly number[]; readonly closed: boolean }> => {
  const response = await api.ask(`${path}/${id}/events`, lastEventId === undefined ? {} : { headers: { 'last-event-id': lastEventId } });
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
  const frames = await readFrames(response);
  const told = frames.filter(({ data }) => data !== undefined);
  return { events: told.map(({ data }) => JSON.parse(data ?? '') as RunEvent), ids: told.map((frame) => Number(frame.id)), closed: frames.at(-1)?.comment === 'stream closed' };
};

const codeOf = async (response: Response): Promise<readonly [number, string | null]> => {
  const { error } = (await response.json()) as { error: { code: string | null; message: string; type: string; param: string | null } };
  assert.deepEqual(Object.keys(error).toSorted(), ['code', 'message', 'param', 'type']);
  return [response.status, error.code];
};

const words = (events: readonly RunEvent[]): string => events.flatMap((event) => (event.event === 'message.delta' ? [event['delta']] : [])).join('');

const otherKey = async (name: string, scopes: readonly ApiScope[] = ['chat']): Promise<Readonly<Record<string, string>>> => {
  const { secret, ...hashed } = newApiSecret();
  await api.inside.store.write((tx) => createApiKey(tx, { id: name, name, scopes, limits: {}, ...hashed }));
  return { authorization: `Bearer ${secret}` };
};

/** Says a beginning and then waits to be told to go on. */
const held = (begin: string, rest: string): { readonly answer: Answer; release(): void } => {
  const release = Promise.withResolvers<void>();
  return {
    release: () => release.resolve(),
    async answer(response) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(chunkOf({ content: begin }))}\n\n`);
      await release.promise;
      response.end(`data: ${JSON.stringify(chunkOf({ content: rest }, 'stop'))}\n\ndata: [DONE]\n\n`);
    },
  };
};

test('a run is taken at once, worked on by itself, and its events and result are there afterwards for any number of readers', async () => {
  const { run_id, session_id } = await submit({ input: 'hello' });
  assert.match(run_id, /^run_[0-9a-f]{32}$/);
  const [one, two] = await Promise.all([eventsOf(run_id), eventsOf(run_id)]);
  assert.deepEqual(one, two);
  assert.equal(words(one.events), 're: hello');
  const last = one.events.at(-1);
  assert.deepEqual([last?.event, last?.['output'], one.closed], ['run.completed', 're: hello', true]);
  assert.deepEqual(last?.['usage'], { input_tokens: 100, output_tokens: 20, total_tokens: 120 });
  assert.ok(one.events.every((event) => event['run_id'] === run_id && typeof event['timestamp'] === 'number'));
  const run = await runOf(run_id);
  assert.deepEqual([run['object'], run['status'], run['output'], run['session_id'], run['model'], run['last_event'], run['error']], ['hermes.run', 'completed', 're: hello', session_id, 'hermes', 'run.completed', null]);
});

test('events are told while they happen, and a reader that was cut off goes on behind the last one it has seen', async () => {
  const { answer, release } = held('first ', 'second');
  world.model.next(answer);
  const { run_id } = await submit({ input: 'slowly' });
  const response = await api.ask(`${path}/${run_id}/events`);
  let seen = '';
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    seen += piece;
    if (seen.includes('first ')) break;
  }
  assert.equal(await statusOf(run_id), 'running');
  release();
  const lastId = /^id: (\d+)$/m.exec(seen)?.[1] ?? '';
  const rest = await eventsOf(run_id, lastId);
  assert.equal(words(rest.events), 'second');
  assert.ok(rest.ids.every((id) => id > Number(lastId)));
  const end = rest.ids.at(-1) ?? 0;
  assert.deepEqual(await eventsOf(run_id, String(end)), { events: [], ids: [], closed: true });
  assert.equal(words((await eventsOf(run_id)).events), 'first second');
});

test('tools of the agent are told with their names and how long they took', async () => {
  world.model.next(calls({ id: 'call_9', name: 'current_time', arguments: '{}' }), says('It is late.'));
  const { run_id } = await submit({ input: [{ role: 'user', content: 'What time is it?' }] });
  const { events } = await eventsOf(run_id);
  assert.deepEqual(events.map(({ event }) => event).filter((name, index, all) => name !== all[index - 1]), ['tool.started', 'tool.completed', 'message.delta', 'run.completed']);
  assert.deepEqual([events[0]?.['tool'], events[0]?.['tool_call_id'], events[1]?.['error']], ['current_time', 'call_9', false]);
  assert.equal(typeof events[1]?.['duration'], 'number');
});

test('a run continues a session, a response or what the client tells it', async () => {
  const lastMessages = () => (world.model.requests.at(-1)?.body.messages ?? []).filter((message) => message['role'] !== 'system').map((message) => message['content']);
  const first = await submit({ input: 'one', instructions: 'Be brief.' });
  await eventsOf(first.run_id);
  assert.match(JSON.stringify(world.model.requests.at(-1)?.body.messages[0]), /Be brief\./);
  const second = await submit({ input: 'two', session_id: first.session_id });
  await eventsOf(second.run_id);
  assert.equal(second.session_id, first.session_id);
  assert.deepEqual(lastMessages(), ['one', 're: one', 'two']);
  const response = (await (await api.post('/v1/responses', { model: 'hermes', input: 'asked' })).json()) as { id: string };
  await eventsOf((await submit({ input: 'more', previous_response_id: response.id })).run_id);
  assert.deepEqual(lastMessages(), ['asked', 're: asked', 'more']);
  await eventsOf((await submit({ input: 'now', conversation_history: [{ role: 'user', content: 'before' }, { role: 'assistant', content: 'well' }] })).run_id);
  assert.deepEqual(lastMessages(), ['before', 'well', 'now']);
});

test('a run that is stopped is cancelled, also while it waits behind another', async () => {
  const seen = world.model.requests.length;
  world.model.next(silence);
  const first = await submit({ input: 'slow' }, { 'x-hermes-session-key': 'stops' });
  await until(() => world.model.requests.length > seen, 'the run to run');
  const second = await submit({ input: 'waits', session_id: first.session_id });
  assert.equal(await statusOf(second.run_id), 'queued');
  assert.deepEqual(await (await api.post(`${path}/${second.run_id}/stop`, {})).json(), { run_id: second.run_id, status: 'cancelled' });
  assert.match(JSON.stringify(await (await api.post(`${path}/${first.run_id}/stop`, {})).json()), /stopping|cancelled/);
  for (const { run_id } of [first, second]) {
    assert.deepEqual((await eventsOf(run_id)).events.map(({ event }) => event), ['run.cancelled']);
    assert.deepEqual([await statusOf(run_id), (await runOf(run_id))['error']], ['cancelled', null]);
  }
});

test('a model that fails ends the run with an error', async () => {
  world.model.next(status(429, 'slow down'));
  const { run_id } = await submit({ input: 'hello' });
  const { events } = await eventsOf(run_id);
  const error = events.at(-1)?.['error'] as { code: string };
  assert.deepEqual([events.at(-1)?.event, error.code], ['run.failed', 'rate_limit_exceeded']);
  assert.deepEqual([await statusOf(run_id), (await runOf(run_id))['error']], ['failed', error]);
});

/** A run that asks whether it may delete a folder. */
const dangerous = async (headers: Readonly<Record<string, string>> = {}): Promise<string> => {
  world.model.next(calls({ id: 'call_rm', name: 'terminal', arguments: JSON.stringify({ command: 'rm -rf ./nothing-here' }) }));
  const { run_id } = await submit({ input: 'clean up' }, headers);
  await until(async () => ((await (await api.ask(`${path}/${run_id}`, { headers })).json()) as Json)['status'] === 'waiting_for_approval', 'the run to ask');
  return run_id;
};

test('a run that needs an approval asks for it, takes one answer, and goes on', async () => {
  const run_id = await dangerous();
  assert.equal((await runOf(run_id))['last_event'], 'approval.request');
  assert.deepEqual(await codeOf(await api.post(`${path}/${run_id}/approval`, { choice: 'perhaps' })), [400, 'invalid_approval_choice']);
  const answered = (await (await api.post(`${path}/${run_id}/approval`, { choice: 'approve' })).json()) as Json;
  assert.deepEqual(answered, { object: 'hermes.run.approval_response', run_id, choice: 'once', resolved: 1 });
  const { events } = await eventsOf(run_id);
  const asked = events.find(({ event }) => event === 'approval.request');
  assert.deepEqual([asked?.['choices'], asked?.['kind'], asked?.['tool_call_id']], [['once', 'session', 'always', 'deny'], 'approval', 'call_rm']);
  assert.match(String(asked?.['text']), /rm -rf \.\/nothing-here/);
  const told = events.find(({ event }) => event === 'approval.responded');
  assert.deepEqual([told?.['choice'], told?.['approval_id']], ['once', asked?.['approval_id']]);
  assert.equal(events.find(({ event }) => event === 'tool.completed')?.['error'], false);
  assert.equal(events.at(-1)?.['output'], 're: clean up');
  assert.deepEqual(await codeOf(await api.post(`${path}/${run_id}/approval`, { choice: 'once' })), [409, 'approval_not_active']);
  assert.deepEqual(await api.inside.store.read((db) => db.q.selectFrom('outbox').select('id').execute()), []);
});

test('what is denied is not done, and a key without the scope admin allows nothing for good', async () => {
  const headers = await otherKey('helper');
  const run_id = await dangerous(headers);
  assert.equal((await api.post(`${path}/${run_id}/approval`, { choice: 'once' })).status, 404);
  assert.deepEqual(await codeOf(await api.post(`${path}/${run_id}/approval`, { choice: 'always' }, headers)), [400, 'invalid_approval_choice']);
  assert.equal((await api.post(`${path}/${run_id}/approval`, { choice: 'deny', all: true }, headers)).status, 200);
  const frames = await readFrames(await api.ask(`${path}/${run_id}/events`, { headers }));
  const events = frames.flatMap(({ data }) => (data === undefined ? [] : [JSON.parse(data) as RunEvent]));
  assert.deepEqual(events.find(({ event }) => event === 'approval.request')?.['choices'], ['once', 'session', 'deny']);
  assert.equal(events.find(({ event }) => event === 'tool.completed')?.['error'], true);
});

test('runs side by side do not answer each other, and one that is stopped takes its question back', async () => {
  const one = await dangerous();
  const two = await dangerous();
  assert.equal((await api.post(`${path}/${one}/approval`, { choice: 'session', resolve_all: true })).status, 200);
  assert.equal((await eventsOf(one)).events.at(-1)?.event, 'run.completed');
  assert.equal(await statusOf(two), 'waiting_for_approval');
  assert.deepEqual(await codeOf(await api.post(`${path}/${two}/approval`, { choice: 'once', approval_id: 'zzz' })), [409, 'approval_not_pending']);
  await api.post(`${path}/${two}/stop`, {});
  const { events } = await eventsOf(two);
  assert.equal(events.at(-1)?.event, 'run.cancelled');
  assert.deepEqual(await api.inside.store.read((db) => db.q.selectFrom('questions').select('state').where('state', '=', 'open').execute()), []);
});

test('what is said to a run is taken into account before its next step, or told to have come too late', async () => {
  const hold = held('', '');
  const release = Promise.withResolvers<void>();
  world.model.next(async (response, request) => {
    await release.promise;
    await calls({ id: 'call_t', name: 'current_time', arguments: '{}' })(response, request);
  });
  const seen = world.model.requests.length;
  const { run_id } = await submit({ input: 'work' });
  await until(() => world.model.requests.length > seen, 'the run to run');
  const steered = await api.post(`${path}/${run_id}/steer`, { input: 'in English please' });
  assert.deepEqual([steered.status, await steered.json()], [202, { object: 'hermes.run.steer', run_id, status: 'accepted' }]);
  release.resolve();
  const { events } = await eventsOf(run_id);
  assert.deepEqual(events.filter(({ event }) => event === 'run.steered').map((event) => [event['text'], event['applied']]), [['in English please', true]]);
  assert.equal(events.at(-1)?.['output'], 're: in English please');
  assert.deepEqual(await codeOf(await api.post(`${path}/${run_id}/steer`, { input: 'too late' })), [409, 'run_not_running']);

  world.model.next(hold.answer);
  const late = await submit({ input: 'no tools' });
  await until(async () => (await runOf(late.run_id))['status'] === 'running' && world.model.requests.length > seen + 2, 'the run to run');
  assert.equal((await api.post(`${path}/${late.run_id}/steer`, { input: 'unheard' })).status, 202);
  hold.release();
  const told = (await eventsOf(late.run_id)).events;
  assert.deepEqual(told.filter(({ event }) => event === 'run.steered').map((event) => event['applied']), [false]);
  assert.equal(await api.inside.store.read(async (db) => (await db.q.selectFrom('inbox').select('id').where('state', '=', 'waiting').execute()).length), 0);
});

test('a repeat under the same Idempotency-Key is the same run, another request under it is refused', async () => {
  const headers = { 'idempotency-key': 'run-1' };
  const first = await submit({ input: 'once' }, headers);
  const again = await api.post(path, { input: 'once' }, headers);
  assert.deepEqual([again.status, again.headers.get('idempotency-replayed'), ((await again.json()) as Json)['run_id']], [202, 'true', first.run_id]);
  assert.deepEqual(await codeOf(await api.post(path, { input: 'twice' }, headers)), [409, 'idempotency_key_conflict']);
  const [one, two] = await Promise.all([submit({ input: 'both' }, { 'idempotency-key': 'run-2' }), submit({ input: 'both' }, { 'idempotency-key': 'run-2' })]);
  assert.equal(one.run_id, two.run_id);
});

test('another key does not find a run, and wrong requests have their own errors', async () => {
  const { run_id } = await submit({ input: 'mine' });
  const headers = await otherKey('stranger');
  for (const [method, where] of [['GET', ''], ['GET', '/events'], ['POST', '/stop'], ['POST', '/approval'], ['POST', '/steer']] as const) {
    assert.deepEqual(await codeOf(await api.ask(`${path}/${run_id}${where}`, { method, headers })), [404, 'run_not_found'], where);
  }
  const cases: readonly (readonly [unknown, number, string])[] = [
    [{}, 400, 'missing_required_parameter'],
    [{ input: '' }, 400, 'invalid_value'],
    [{ input: 5 }, 400, 'invalid_type'],
    [[], 400, 'invalid_type'],
    ['{', 400, 'invalid_json'],
    [{ input: 'x', model: 'gpt-4' }, 404, 'model_not_found'],
    [{ input: 'x', session_id: 'nobody' }, 404, 'session_not_found'],
    [{ input: 'x', session_id: '../up' }, 400, 'invalid_session_id'],
    [{ input: 'x', previous_response_id: 'resp_none' }, 404, 'previous_response_not_found'],
    [{ input: 'x', session_id: 's', conversation_history: [{ role: 'user', content: 'y' }] }, 400, 'invalid_value'],
  ];
  for (const [body, wanted, code] of cases) assert.deepEqual(await codeOf(await api.post(path, body)), [wanted, code], JSON.stringify(body));
  assert.deepEqual(await codeOf(await api.ask(path)), [405, 'method_not_allowed']);
  assert.deepEqual(await codeOf(await api.ask(path, { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } })), [415, 'unsupported_media_type']);
  assert.deepEqual(await codeOf(await api.ask(`${path}/${run_id}/events`, { headers: { 'last-event-id': 'x' } })), [400, 'invalid_header']);
});

test('runs count against what their key may do at once until they have ended', async () => {
  const { secret, ...hashed } = newApiSecret();
  await api.inside.store.write((tx) => createApiKey(tx, { id: 'single', name: 'single', scopes: ['chat'], limits: { atOnce: 1 }, ...hashed }));
  const headers = { authorization: `Bearer ${secret}` };
  const seen = world.model.requests.length;
  world.model.next(silence);
  const { run_id } = await submit({ input: 'slow' }, headers);
  await until(() => world.model.requests.length > seen, 'the run to run');
  assert.deepEqual(await codeOf(await api.post(path, { input: 'more' }, headers)), [429, 'rate_limit_exceeded']);
  await api.post(`${path}/${run_id}/stop`, {}, headers);
  let next: Response | undefined;
  await until(async () => (next = await api.post(path, { input: 'more' }, headers)).status === 202, 'the key to be free again');
  const more = (await next?.json()) as { run_id: string };
  await (await api.ask(`${path}/${more.run_id}/events`, { headers })).text();
});

test('a run that a restart cut short goes on after it; its events say so and double nothing', async () => {
  const { answer } = held('half of ', 'never said');
  world.model.next(answer);
  const { run_id } = await submit({ input: 'survive' });
  await until(async () => (await runOf(run_id))['last_event'] === 'message.delta', 'the run to say something');
  await api[Symbol.asyncDispose]();
  api = await startApiGateway({ world });
  const early = await eventsOf(run_id);
  const at = early.events.findIndex(({ event }) => event === 'run.resumed');
  assert.equal(early.events[at]?.['kept_through'], 0);
  assert.equal(words(early.events.slice(at)), 're: survive');
  const { events, ids } = await eventsOf(run_id);
  assert.equal(words(events), 're: survive');
  assert.equal(events[0]?.event, 'run.resumed');
  assert.deepEqual(ids, ids.toSorted((a, b) => a - b));
  const resumed = await eventsOf(run_id, '1');
  assert.equal(resumed.events[0]?.event, 'run.resumed');
  assert.equal((await runOf(run_id))['output'], 're: survive');
});

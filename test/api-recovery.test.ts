import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { calls, chunkOf } from '../src/agent/models/chat-simulator.ts';
import type { Answer } from '../src/agent/models/chat-simulator.ts';
import { ownerKey, readFrames } from './support/api-gateway.ts';
import { peek } from './support/scenes.ts';
import { echo, newWorld, startOutside, until } from './support/whole.ts';
import type { Outside, World } from './support/whole.ts';

type Json = Readonly<Record<string, unknown>>;

interface Door {
  readonly outside: Outside;
  ask(path: string, init?: RequestInit): Promise<Response>;
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
}

/** The gateway as people start it, with its API. */
const start = async (world: World): Promise<Door> => {
  const outside = await startOutside(world, { API_SERVER_KEY: ownerKey });
  const url = /"url":"(http:[^"]+)"/.exec(outside.output())?.[1] ?? assert.fail('it does not say where it listens');
  const ask: Door['ask'] = (path, init = {}) => fetch(`${url}${path}`, { ...init, headers: { authorization: `Bearer ${ownerKey}`, ...init.headers } });
  return { outside, ask, post: (path, body, headers = {}) => ask(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } }) };
};

const eventsOf = async (door: Door, id: string, lastEventId = '0'): Promise<readonly Json[]> => {
  const frames = await readFrames(await door.ask(`/v1/runs/${id}/events`, { headers: { 'last-event-id': lastEventId } }));
  return frames.flatMap(({ data, id: seq }) => (data === undefined ? [] : [{ ...(JSON.parse(data) as Json), seq: Number(seq) }]));
};

const words = (events: readonly Json[]): string => events.flatMap((event) => (event['event'] === 'message.delta' ? [event['delta']] : [])).join('');
const names = (events: readonly Json[]): readonly unknown[] => events.map(({ event }) => event).filter((name, index, all) => name !== all[index - 1]);

/** Says something and never ends. */
const halfAnswer: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`data: ${JSON.stringify(chunkOf({ content: 'half of ' }))}\n\n`);
};

describe('a gateway that is killed', { concurrency: true }, () => {
  test('goes on with a run after its next start: nothing is doubled, and its events are there', async () => {
    await using world = await newWorld();
    world.model.next(calls({ id: 'call_1', name: 'current_time', arguments: '{}' }), halfAnswer);
    const first = await start(world);
    const { run_id } = (await (await first.post('/v1/runs', { input: 'survive' }, { 'idempotency-key': 'once' })).json()) as { run_id: string };
    await until(async () => ((await (await first.ask(`/v1/runs/${run_id}`)).json()) as Json)['last_event'] === 'message.delta', 'the run to say something');
    await first.outside.kill();
    const second = await start(world);
    await using _outside = second.outside;
    await eventsOf(second, run_id);
    const events = await eventsOf(second, run_id);
    assert.deepEqual(names(events), ['tool.started', 'tool.completed', 'run.resumed', 'message.delta', 'run.completed']);
    assert.equal(words(events), 're: survive');
    assert.equal(events.at(-1)?.['output'], 're: survive');
    const again = await second.post('/v1/runs', { input: 'survive' }, { 'idempotency-key': 'once' });
    assert.equal(((await again.json()) as Json)['run_id'], run_id, 'what was repeated after the restart is the same run');
    const asked = world.model.requests.filter(({ body }) => JSON.stringify(body.messages).includes('survive'));
    assert.equal(asked.length, 3);
    assert.equal(asked.at(-1)?.body.messages.filter(({ role }) => role === 'tool').length, 1, 'the tool was not run again');
    const resumed = events.find(({ event }) => event === 'run.resumed');
    assert.deepEqual(names(await eventsOf(second, run_id, String(Number(resumed?.['seq']) - 1))), ['run.resumed', 'message.delta', 'run.completed'], 'whoever had read on finds out');
  });

  test('finds a run that waits for an approval still waiting, and takes the answer', async () => {
    await using world = await newWorld();
    world.model.next(calls({ id: 'call_rm', name: 'terminal', arguments: JSON.stringify({ command: 'rm -rf ./nothing-here' }) }));
    const first = await start(world);
    const { run_id } = (await (await first.post('/v1/runs', { input: 'clean up' })).json()) as { run_id: string };
    const status = async (door: Door): Promise<unknown> => ((await (await door.ask(`/v1/runs/${run_id}`)).json()) as Json)['status'];
    await until(async () => (await status(first)) === 'waiting_for_approval', 'the run to ask');
    await first.outside.kill();
    const second = await start(world);
    await using _outside = second.outside;
    assert.equal(await status(second), 'waiting_for_approval');
    assert.equal((await second.post(`/v1/runs/${run_id}/approval`, { choice: 'once' })).status, 200);
    const events = await eventsOf(second, run_id);
    assert.equal(events.filter(({ event }) => event === 'approval.request').length, 1);
    assert.equal(events.at(-1)?.['event'], 'run.completed');
  });

  test('does not go on with a run by itself after too long, and says so', async () => {
    await using world = await newWorld();
    world.model.next(halfAnswer);
    const first = await start(world);
    const { run_id } = (await (await first.post('/v1/runs', { input: 'wait' })).json()) as { run_id: string };
    await until(async () => ((await (await first.ask(`/v1/runs/${run_id}`)).json()) as Json)['last_event'] === 'message.delta', 'the run to say something');
    await first.outside.kill();
    await peek(world, (store) => store.write((tx) => tx.q.updateTable('lanes').set((eb) => ({ lease_until: eb('lease_until', '-', 7_200_000) })).where('owner', 'is not', null).execute()));
    const second = await start(world);
    await using _outside = second.outside;
    const last = (await eventsOf(second, run_id)).at(-1);
    assert.equal(last?.['event'], 'run.failed');
    assert.match(JSON.stringify(last), /away for too long/);
    assert.equal(world.model.requests.length, 1);
  });

  test('ends a run that kills it every time, and says so', async () => {
    await using world = await newWorld();
    // The run is taken up before we know that its gateway has started.
    let victim = Promise.withResolvers<Door>();
    world.model.otherwise(async () => void (await victim.promise).outside.child.kill('SIGKILL'));
    let door = await start(world);
    const { run_id } = (await (await door.post('/v1/runs', { input: 'deadly' })).json()) as { run_id: string };
    for (let times = 1; times <= 3; times += 1) {
      victim.resolve(door);
      await until(() => door.outside.child.signalCode !== null, 'the process to be killed');
      if (times === 3) break;
      victim = Promise.withResolvers();
      door = await start(world);
    }
    world.model.otherwise(echo);
    const last = await start(world);
    await using _outside = last.outside;
    const events = await eventsOf(last, run_id);
    assert.equal(events.at(-1)?.['event'], 'run.failed');
    assert.match(JSON.stringify(events.at(-1)?.['error']), /"code":"set_aside"/);
    assert.equal(((await (await last.ask(`/v1/runs/${run_id}`)).json()) as Json)['status'], 'failed');
  });
});

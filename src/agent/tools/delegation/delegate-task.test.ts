import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../../test/support/stores.ts';
import { manualClock } from '../../../lib/clock.ts';
import { grantsOf } from '../../../store/agents/grants.ts';
import { calls, says, silence, status } from '../../models/chat-simulator.ts';
import type { Answer } from '../../models/chat-simulator.ts';
import { isAsyncDeliverySupported, sessionVariable } from '../../session-context.ts';
import { tool } from '../../turn.test-support.ts';
import type { Tool, ToolContext } from '../contract.ts';
import { newBench } from './delegation.test-support.ts';

interface Entry {
  readonly task_index: number;
  readonly status: string;
  readonly summary: string;
  readonly error?: string;
  readonly api_calls: number;
  readonly exit_reason: string;
  readonly truncated?: true;
}

const resultsOf = (answer: Readonly<Record<string, unknown>>): readonly Entry[] => answer['results'] as readonly Entry[];

const noted = async (work: Promise<unknown>): Promise<string> => {
  await assert.rejects(work);
  return work.then(
    () => '',
    (error: unknown) => (error as Error).message,
  );
};

/** Answers with what the helper was told to do. */
const echo: Answer = (response, request) => says(`did: ${String(request.body.messages.findLast((message) => message['role'] === 'user')?.['content'])}`)(response, request);

const named = (name: string, run: Tool['run'] = async () => 'done'): Tool => tool(name, run);

eachStore((_engine, open) => {
  test('one helper does one thing with nothing but what it was told, and answers with a summary', async () => {
    await using bench = await newBench((await open()).store, { tools: [named('web_fetch')] });
    bench.simulator.otherwise(echo);
    const answer = await bench.call({ goal: 'Count the files', context: 'They are in /srv.' });
    const [entry] = resultsOf(answer);
    assert.deepEqual({ ...entry, duration_seconds: 0 }, { task_index: 0, status: 'completed', summary: 'did: Count the files\n\nContext:\nThey are in /srv.', api_calls: 1, duration_seconds: 0, exit_reason: 'completed', model: 'sim-1', tokens: { input: 100, output: 20 } });
    const { body } = bench.simulator.requests[0] ?? assert.fail('the model was asked');
    assert.deepEqual(body.messages.map(({ role }) => role), ['system', 'user']);
    assert.deepEqual((body['tools'] as readonly { function: { name: string } }[]).map((each) => each.function.name), ['web_fetch']);
    assert.deepEqual([bench.spent().inputTokens, bench.spent().outputTokens], [100, 20], 'what it cost is the turn’s');
  });

  test('several work side by side, and their results stand in the order of the tasks', async () => {
    await using bench = await newBench((await open()).store);
    const all = Promise.withResolvers<void>();
    let waiting = 0;
    bench.simulator.otherwise(async (response, request) => {
      waiting += 1;
      if (waiting === 3) all.resolve();
      await all.promise;
      await echo(response, request);
    });
    const answer = await bench.call({ tasks: JSON.stringify([{ goal: 'one' }, { goal: 'two', context: 'own' }, { goal: 'three' }]), context: 'for all' });
    assert.deepEqual(resultsOf(answer).map(({ task_index, summary }) => [task_index, summary]), [[0, 'did: one\n\nContext:\nfor all'], [1, 'did: two\n\nContext:\nown'], [2, 'did: three\n\nContext:\nfor all']]);
    assert.deepEqual(answer['total_tokens'], { input: 300, output: 60 });
  });

  test('more tasks than allowed are refused and none is begun; the limits stand in the description', async () => {
    await using bench = await newBench((await open()).store, { settings: { max_concurrent_children: 2, max_async_children: 0 } });
    assert.match(await noted(bench.call({ tasks: [{ goal: 'a' }, { goal: 'b' }, { goal: 'c' }] })), /3 tasks are too many for one call; 2 are the most/);
    assert.match(await noted(bench.call({})), /Give either goal or tasks/);
    assert.match(await noted(bench.call({ goal: 'a', tasks: [{ goal: 'b' }] })), /Give either goal or tasks/);
    assert.equal(bench.simulator.requests.length, 0);
    assert.match(bench.tool.definition.description, /At most 2 tasks in one call.*Nothing can run in the background.*Helpers cannot hand work on/);
  });

  test('a helper has the toolsets that were asked for and that it may have, and never those that reach people', async () => {
    const tools = ['web_fetch', 'read_file', 'clarify', 'memory', 'send_message', 'cronjob'].map((name) => named(name));
    await using bench = await newBench((await open()).store, { tools });
    bench.simulator.otherwise(echo);
    const offered = (): readonly string[] => ((bench.simulator.requests.at(-1)?.body['tools'] ?? []) as readonly { function: { name: string } }[]).map((each) => each.function.name);
    await bench.call({ goal: 'a' });
    assert.deepEqual(offered(), ['read_file', 'web_fetch']);
    const answer = await bench.call({ goal: 'a', toolsets: ['web', 'memory', 'terminal'] });
    assert.deepEqual([offered(), answer['note']], [['web_fetch'], 'Not available to helpers here: memory, terminal.']);
    assert.match(await noted(bench.call({ goal: 'a', toolsets: ['memory'] })), /None of the toolsets memory can be given to a helper here\. There are file, web/);
  });

  test('a helper works in a session of its own, in which nothing can be said later and nobody is asked', async () => {
    const seen: unknown[] = [];
    const look = named('read_file', async (_args, context: ToolContext) => {
      const answer = await context.ask({ text: '?', options: [], answerer: 'asker', timeoutMs: 1 }, new AbortController().signal);
      seen.push([context.sessionId.startsWith('deleg_'), context.asyncDelivery, isAsyncDeliverySupported(), sessionVariable('HERMES_SESSION_ID', {}) === context.sessionId, answer.type]);
      return 'seen';
    });
    const { store } = await open();
    await using bench = await newBench(store, { tools: [look], settings: { subagent_auto_approve: false } });
    bench.simulator.next(calls({ id: 'c', name: 'read_file', arguments: '{}' }), says('done'));
    const [entry] = resultsOf(await bench.call({ goal: 'look' }));
    assert.deepEqual([seen, entry?.api_calls, entry?.summary], [[[true, false, false, true, 'unattended']], 2, 'done']);
  });

  test('helpers may do what the agent would have to ask for only where the owner has said so, and only while they work', async () => {
    const { store } = await open();
    const granted: unknown[] = [];
    let child = '';
    const look = named('read_file', async (_args, context: ToolContext) => {
      child = context.sessionId;
      granted.push((await store.read((db) => grantsOf(db, child))).map(({ pattern }) => pattern));
      return 'seen';
    });
    for (const allowed of [false, true]) {
      await using bench = await newBench(store, { owner: `node-${allowed}`, tools: [look], settings: { subagent_auto_approve: allowed } });
      bench.simulator.next(calls({ id: 'c', name: 'read_file', arguments: '{}' }), says('done'));
      await bench.call({ goal: 'look' });
      assert.deepEqual(await store.read((db) => grantsOf(db, child)), []);
    }
    assert.deepEqual(granted, [[], ['*']]);
  });

  test('what goes wrong is a result: a model that fails, one that says nothing, steps that are used up', async () => {
    await using bench = await newBench((await open()).store, { tools: [named('read_file')], settings: { max_iterations: 1 } });
    bench.simulator.next(status(401));
    const failed = resultsOf(await bench.call({ goal: 'a' }))[0];
    assert.deepEqual([failed?.status, failed?.exit_reason, failed?.summary, failed?.error], ['failed', 'model_error', '', 'The model refused our key. The owner has to check `model.api_key`.']);
    bench.simulator.next(says(''), says(''), says(''));
    assert.equal(resultsOf(await bench.call({ goal: 'a' }))[0]?.status, 'failed');
    bench.simulator.next(calls({ id: 'c', name: 'read_file', arguments: '{}' }), says('as far as I came'));
    const limited = resultsOf(await bench.call({ goal: 'a' }))[0];
    assert.deepEqual([limited?.status, limited?.exit_reason, limited?.summary], ['completed', 'limit', 'as far as I came']);
  });

  test('an interrupt ends the helpers at once', async () => {
    const { store } = await open();
    const released: string[] = [];
    await using bench = await newBench(store, { release: async (id) => void released.push(id) });
    bench.simulator.otherwise(silence);
    const stop = new AbortController();
    const running = bench.call({ tasks: [{ goal: 'a' }, { goal: 'b' }] }, {}, stop.signal);
    while (bench.simulator.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 2));
    assert.deepEqual(bench.delegations.of('s1').map(({ goal, end }) => [goal, end]), [['a', undefined], ['b', undefined]]);
    stop.abort({ kind: 'stopped' });
    assert.deepEqual(resultsOf(await running).map(({ status: state, exit_reason }) => [state, exit_reason]), [['interrupted', 'stopped'], ['interrupted', 'stopped']]);
    assert.deepEqual(bench.delegations.of('s1').map(({ end }) => end?.status), ['interrupted', 'interrupted']);
    assert.equal(released.length, 2, 'what they left running is ended');
  });

  test('a helper that gives no sign of life is ended; the turn that waits for it stays alive', async () => {
    const clock = manualClock();
    await using bench = await newBench((await open()).store, { clock, settings: { child_idle_timeout: 90 } });
    bench.simulator.otherwise(silence);
    const running = bench.call({ goal: 'a' });
    while (bench.simulator.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    await clock.advance(90_000);
    const [entry] = resultsOf(await running);
    assert.deepEqual([entry?.status, entry?.exit_reason], ['timeout', 'deadline']);
    assert.equal(bench.alive(), 4);
    assert.equal(clock.waiting(), 0, 'no timer is left');
  });

  test('a long summary is shortened so that all of them have room', async () => {
    await using bench = await newBench((await open()).store);
    bench.simulator.otherwise(says('x'.repeat(60_000)));
    const entries = resultsOf(await bench.call({ tasks: [{ goal: 'a' }, { goal: 'b' }] }));
    assert.deepEqual(entries.map(({ truncated, summary }) => [truncated, summary.length <= 40_000]), [[true, true], [true, true]]);
  });

  test('where nothing can be said later, work for the background is done at once, and that is said', async () => {
    await using bench = await newBench((await open()).store);
    bench.simulator.otherwise(echo);
    const answer = await bench.call({ goal: 'a', background: true }, { asyncDelivery: false });
    assert.equal(resultsOf(answer)[0]?.summary, 'did: a');
    assert.match(String(answer['note']), /done at once instead of in the background/);
  });

  test('only an orchestrator hands work on, and only as deep as the owner allows', async () => {
    const { store } = await open();
    const nested = (depth: string): Answer => calls({ id: depth, name: 'delegate_task', arguments: JSON.stringify({ goal: `below ${depth}`, role: 'orchestrator' }) });
    await using flat = await newBench(store, { owner: 'flat' });
    flat.simulator.otherwise(echo);
    const note = (await flat.call({ goal: 'a', role: 'orchestrator' }))['note'];
    assert.match(String(note), /the role orchestrator was ignored/);
    assert.equal(flat.simulator.requests[0]?.body['tools'], undefined);
    await using deep = await newBench(store, { owner: 'deep', settings: { max_spawn_depth: 2 } });
    deep.simulator.next(nested('top'), echo, says('all done'));
    const [entry] = resultsOf(await deep.call({ goal: 'a', role: 'orchestrator' }));
    assert.equal(entry?.summary, 'all done');
    const inner = deep.simulator.requests.at(-1)?.body.messages.find(({ role }) => role === 'tool');
    assert.match(String(inner?.['content']), /did: below top/);
    assert.equal(deep.simulator.requests[1]?.body['tools'], undefined, 'the innermost has no helpers');
    assert.deepEqual([deep.spent().inputTokens], [300], 'all of it counts');
  });
});

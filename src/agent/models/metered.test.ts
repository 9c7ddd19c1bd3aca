import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelError } from '../../core/errors.ts';
import type { Usage } from '../../core/transcript.ts';
import { noUsage } from '../../core/transcript.ts';
import type { ModelEvent, ModelProvider, ModelRequest } from './contract.ts';
import { metered } from './metered.ts';
import type { MeteredCall, SpendMeter } from './metered.ts';

const request: ModelRequest = { model: 'm', system: '', messages: [], tools: [] };
const usage: Usage = { ...noUsage, inputTokens: 3, cost: { usd: 0.5, status: 'actual' } };
const signal = new AbortController().signal;

const answering = (...events: readonly (ModelEvent | Error)[]): ModelProvider => ({
  name: 'p',
  async *stream() {
    for (const event of events) {
      if (event instanceof Error) throw event;
      yield event;
    }
  },
});
const finish: ModelEvent = { type: 'finish', reason: 'stop', toolCalls: [], usage, model: 'm' };

const newMeter = (isOver = false): SpendMeter & { readonly counted: Usage[]; readonly calls: MeteredCall[] } => {
  const calls: MeteredCall[] = [];
  const counted: Usage[] = [];
  return {
    counted,
    calls,
    async admit() {
      if (isOver) throw new ModelError('over_budget', 'x');
    },
    spent: async (used, call) => {
      counted.push(used);
      calls.push(call);
    },
  };
};

test('an answered call is counted once, also by a reader who leaves with its last word', async () => {
  const meter = newMeter();
  const provider = metered(answering({ type: 'text', delta: 'hi' }, finish), meter);
  for await (const event of provider.stream(request, signal)) if (event.type === 'finish') break;
  for await (const event of provider.stream(request, signal)) assert.ok(event.type !== 'reasoning');
  assert.deepEqual(meter.counted, [usage, usage]);
});

test('a smaller job is told apart from a turn', async () => {
  const meter = newMeter();
  const provider = metered(answering(finish), meter);
  for (const asked of [request, { ...request, task: 'vision' as const }]) for await (const event of provider.stream(asked, signal)) assert.equal(event.type, 'finish');
  assert.deepEqual(meter.calls, [{ what: 'turn', model: 'm' }, { what: 'vision', model: 'm' }]);
});

test('a call that breaks off is not counted, and its failure comes through', async () => {
  const meter = newMeter();
  const read = async (): Promise<void> => {
    for await (const event of metered(answering({ type: 'text', delta: 'hi' }, new ModelError('cut_stream', 'x')), meter).stream(request, signal)) assert.equal(event.type, 'text');
  };
  await assert.rejects(read, (error: unknown) => error instanceof ModelError && error.code === 'cut_stream');
  assert.deepEqual(meter.counted, []);
});

test('a call that may not be made does not reach the provider', async () => {
  let asked = 0;
  const provider: ModelProvider = { name: 'p', stream: (...args) => ((asked += 1), answering(finish).stream(...args)) };
  await assert.rejects(async () => void (await metered(provider, newMeter(true)).stream(request, signal)[Symbol.asyncIterator]().next()), (error: unknown) => error instanceof ModelError && error.code === 'over_budget');
  assert.equal(asked, 0);
});

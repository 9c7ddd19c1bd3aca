import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ModelError } from '../core/errors.ts';
import type { ModelErrorCode } from '../core/errors.ts';
import { noUsage } from '../core/transcript.ts';
import type { ToolCall, TranscriptMessage } from '../core/transcript.ts';
import type { TurnEvent } from '../core/turn.ts';
import { manualClock, systemClock } from '../lib/clock.ts';
import { capturingLogger, silentLogger } from '../lib/logger.ts';
import { alternate } from './alternation.ts';
import type { TurnAbort, TurnInput } from './contract.ts';
import type { FinishReason, ModelEvent, ModelProvider } from './models/contract.ts';
import { resumeTranscript } from './resume-transcript.ts';
import type { Tool } from './tools/contract.ts';
import { toolSet } from './tools/tool-set.ts';
import { somewhere } from './turn.test-support.ts';
import { newAgent } from './turn.ts';
import type { AgentDeps } from './turn.ts';

const asked: TranscriptMessage = { role: 'user', content: 'hello' };
const input: TurnInput = {
  sessionId: 's',
  turnId: 't',
  system: '',
  transcript: [asked],
  steering: () => [],
  asyncDelivery: true,
  limits: { activityMs: 60_000, totalMs: 600_000 },
  place: somewhere,
  ask: async () => ({ type: 'unattended' }),
};

const finish = (toolCalls: readonly ToolCall[] = [], reason: FinishReason = toolCalls.length > 0 ? 'tool_calls' : 'stop'): ModelEvent => ({
  type: 'finish',
  reason,
  toolCalls,
  usage: noUsage,
  model: 'm',
});
const text = (delta: string): ModelEvent => ({ type: 'text', delta });
const hang = (): Promise<never> => new Promise(() => undefined);

/** Speaks one script per call. It knows no signal: after a script without a finish it hangs for ever. */
const stubborn = (...scripts: readonly (readonly (ModelEvent | Error)[])[]): ModelProvider => {
  let call = 0;
  return {
    name: 'stubborn',
    async *stream() {
      const script = scripts[call] ?? [];
      call += 1;
      for (const each of script) {
        if (each instanceof Error) throw each;
        yield each;
        if (each.type === 'finish') return;
      }
      await hang();
    },
  };
};

const tool = (name: string, run: Tool['run']): Tool => ({ definition: { name, description: name, parameters: {} }, run });
const calls = (...names: string[]): ToolCall[] => names.map((name, index) => ({ id: `${name}${index}`, name, arguments: '{}' }));

const agentOf = (provider: ModelProvider, tools: readonly Tool[] = [], deps: Partial<AgentDeps> = {}) =>
  newAgent({ provider, model: 'm', tools: toolSet(tools), clock: manualClock(), log: silentLogger, maxRetries: 3, ...deps });

const messagesOf = (events: readonly TurnEvent[]): TranscriptMessage[] => events.flatMap((event) => (event.type === 'message' ? [event.message] : []));
const endOf = (events: readonly TurnEvent[]) => {
  const end = events.at(-1);
  assert.ok(end?.type === 'end');
  return end;
};

/** Pulls until `when` matches, aborts, and pulls the rest, which comes although model and tools never end. */
const abortAt = async (agent: ReturnType<typeof agentOf>, kind: TurnAbort['kind'], when: (event: TurnEvent) => boolean): Promise<TurnEvent[]> => {
  const controller = new AbortController();
  const events: TurnEvent[] = [];
  let isAborted = false;
  for await (const event of agent.run(input, controller.signal)) {
    events.push(event);
    if (isAborted || !when(event)) continue;
    isAborted = true;
    setImmediate(() => controller.abort({ kind } satisfies TurnAbort));
  }
  return events;
};

for (const kind of ['interrupted', 'stopped'] as const) {
  test(`${kind} while a model that ignores its signal speaks: what was said is kept`, async () => {
    const events = await abortAt(agentOf(stubborn([text('Half '), text('an ')])), kind, (event) => event.type === 'text' && event.delta === 'an ');
    assert.deepEqual(messagesOf(events), [{ role: 'assistant', content: 'Half an ', finishReason: 'interrupted' }]);
    assert.equal(endOf(events).reason, kind);
    assert.equal(endOf(events).error, undefined);
  });

  test(`${kind} while a tool that ignores its signal runs: every call gets a result`, async () => {
    const tools = [tool('quick', async () => 'done'), tool('stuck', hang)];
    const requested = calls('quick', 'stuck', 'quick');
    const agent = agentOf(stubborn([text('Looking. '), finish(requested)]), tools);
    const events = await abortAt(agent, kind, (event) => event.type === 'tool_started' && event.name === 'stuck');
    const stored = [asked, ...messagesOf(events)];
    assert.deepEqual(alternate(stored), stored, 'nothing is left to repair');
    assert.deepEqual(stored.slice(2).map(({ toolCallId }) => toolCallId), requested.map(({ id }) => id));
    assert.match(stored[3]!.content, /while this call was running/);
    assert.match(stored[4]!.content, /before this call was run/);
    assert.equal(endOf(events).reason, kind);
    const finished = events.flatMap((event) => (event.type === 'tool_finished' ? [[event.callId, event.ok]] : []));
    assert.deepEqual(finished, [['quick0', true], ['stuck1', false]]);
  });

  test(`${kind} while a tool that obeys its signal runs: it has not crashed`, async () => {
    const { log, lines } = capturingLogger();
    const obedient = tool('obedient', (_args, _context, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))));
    const events = await abortAt(agentOf(stubborn([finish(calls('obedient'))]), [obedient], { log }), kind, (event) => event.type === 'tool_started');
    assert.equal(endOf(events).reason, kind);
    assert.deepEqual(lines.filter((line) => line.includes('tool.crashed')), []);
  });
}

test('suspended: nothing more is stored, and the calls left open are completed after the restart', async () => {
  const speaking = await abortAt(agentOf(stubborn([text('Half ')])), 'suspended', (event) => event.type === 'text');
  assert.deepEqual(messagesOf(speaking), []);
  assert.equal(endOf(speaking).reason, 'suspended');

  const agent = agentOf(stubborn([finish(calls('stuck', 'stuck'))]), [tool('stuck', hang)]);
  const working = await abortAt(agent, 'suspended', (event) => event.type === 'tool_started');
  const stored = [asked, ...messagesOf(working)];
  assert.equal(stored.length, 2);
  assert.equal(endOf(working).reason, 'suspended');
  const resumed = [...stored, ...resumeTranscript(stored)];
  assert.deepEqual(alternate(resumed), resumed);
});

test('an abort during the wait for a retry ends it, and no timer is left', async () => {
  const clock = manualClock();
  const agent = agentOf(stubborn([new ModelError('overloaded', 'x')]), [], { clock });
  const events = await abortAt(agent, 'stopped', (event) => event.type === 'retrying');
  assert.equal(endOf(events).reason, 'stopped');
  assert.equal(clock.waiting(), 0);
});

test('a signal that is aborted already asks neither model nor people', async () => {
  let called = false;
  const provider: ModelProvider = {
    name: 'never',
    async *stream() {
      called = true;
      yield finish();
    },
  };
  const steering = (): never => assert.fail('asked for steering');
  const events = await Array.fromAsync(agentOf(provider).run({ ...input, steering }, AbortSignal.abort({ kind: 'suspended' })));
  assert.deepEqual(events, [{ type: 'end', reason: 'suspended' }]);
  assert.equal(called, false);
});

test('a reason of an unknown kind counts as an interruption', async () => {
  const events = await Array.fromAsync(agentOf(stubborn()).run(input, AbortSignal.abort()));
  assert.equal(endOf(events).reason, 'interrupted');
});

test('an abort between the request for a tool and its start means that it does not start', async () => {
  let ran = false;
  const spy = tool('spy', async () => {
    ran = true;
    return '';
  });
  const controller = new AbortController();
  const events: TurnEvent[] = [];
  for await (const event of agentOf(stubborn([finish(calls('spy'))]), [spy]).run(input, controller.signal)) {
    events.push(event);
    if (event.type === 'tool_started') controller.abort({ kind: 'stopped' });
  }
  assert.equal(ran, false);
  assert.match(messagesOf(events)[1]?.content ?? '', /before this call was run/);
  assert.equal(events.filter(({ type }) => type === 'tool_finished').length, 1);
});

/** Collects in the background while the test moves the clock. */
const collect = (agent: ReturnType<typeof agentOf>, limits = input.limits): { events: TurnEvent[]; done: Promise<void> } => {
  const events: TurnEvent[] = [];
  const done = (async () => {
    for await (const event of agent.run({ ...input, limits }, new AbortController().signal)) events.push(event);
  })();
  return { events, done };
};

test('silence of a model that ignores its signal ends the turn at the activity deadline, with what was said', async () => {
  const clock = manualClock();
  const { events, done } = collect(agentOf(stubborn([text('Well, ')]), [], { clock }));
  await clock.advance(59_999);
  assert.equal(events.at(-1)?.type, 'text');
  await clock.advance(1);
  await done;
  assert.deepEqual(messagesOf(events), [{ role: 'assistant', content: 'Well, ', finishReason: 'interrupted' }]);
  assert.deepEqual(endOf(events), { type: 'end', reason: 'deadline', error: { code: 'idle', sentence: 'I stopped because nothing moved for 1 min.' } });
  assert.equal(clock.waiting(), 0);
});

test('a tool that says it is alive outlasts the activity deadline; one that does not is ended', async () => {
  const clock = manualClock();
  const patient = tool('patient', async (_args, context) => {
    for (let i = 0; i < 4; i += 1) {
      await clock.sleep(50_000);
      context.alive();
    }
    return 'done';
  });
  const alive = collect(agentOf(stubborn([finish(calls('patient'))], [text('ok'), finish()]), [patient], { clock }));
  await clock.advance(200_000);
  await alive.done;
  assert.equal(endOf(alive.events).reason, 'completed');

  const dead = collect(agentOf(stubborn([finish(calls('stuck'))]), [tool('stuck', hang)], { clock }));
  await clock.advance(60_000);
  await dead.done;
  assert.equal(endOf(dead.events).reason, 'deadline');
  assert.equal(messagesOf(dead.events).length, 2);
});

test('a model that never stops talking ends at the total deadline', async () => {
  const clock = manualClock();
  const chatty: ModelProvider = {
    name: 'chatty',
    async *stream() {
      for (;;) {
        await clock.sleep(30_000);
        yield text('la ');
      }
    },
  };
  const { events, done } = collect(agentOf(chatty, [], { clock }), { activityMs: 60_000, totalMs: 7_200_000 });
  await clock.advance(7_200_000);
  await done;
  assert.deepEqual(endOf(events).error, { code: 'overdue', sentence: 'I stopped because this took longer than 2 h.' });
});

test('waiting for a retry is not idleness', async () => {
  const clock = manualClock();
  const { events, done } = collect(agentOf(stubborn([new ModelError('rate_limited', 'x', { retryAfterMs: 300_000 })], [text('ok'), finish()]), [], { clock }));
  await clock.advance(300_000);
  await done;
  assert.equal(endOf(events).reason, 'completed');
});

test('an answer without end is cut before it fills the memory', async () => {
  const endless: ModelProvider = {
    name: 'endless',
    async *stream() {
      for (;;) yield text('x'.repeat(100_000));
    },
  };
  const events = await Array.fromAsync(agentOf(endless).run(input, new AbortController().signal));
  assert.equal(endOf(events).error?.code, 'malformed');
});

test('an unexpected failure has an id that the person and the log both see, and nothing else', async () => {
  const { log, lines } = capturingLogger();
  const events = await Array.fromAsync(agentOf(stubborn([text('Hm'), new TypeError('secret internals')]), [], { log }).run(input, new AbortController().signal));
  const end = endOf(events);
  assert.equal(end.reason, 'internal_error');
  const id = /\((err_\w+)\)/.exec(end.error?.sentence ?? '')?.[1];
  assert.ok(id !== undefined && lines.some((line) => line.includes(id) && line.includes('secret internals')));
  assert.doesNotMatch(JSON.stringify(events), /secret/);
  assert.equal(messagesOf(events)[0]?.finishReason, 'cut');
});

test('who stops pulling stops the model, the tool and every timer', async () => {
  const clock = manualClock();
  const aborted = Promise.withResolvers<void>();
  const listening: ModelProvider = {
    name: 'listening',
    async *stream(_request, signal) {
      signal.addEventListener('abort', () => aborted.resolve());
      yield text('a');
      await hang();
    },
  };
  for await (const event of agentOf(listening, [], { clock }).run(input, new AbortController().signal)) if (event.type === 'text') break;
  await aborted.promise;
  assert.equal(clock.waiting(), 0);
});

const modelEvent = fc.oneof(
  fc.constantFrom('', ' ', 'word ', 'more ').map(text),
  fc.constantFrom<ModelEvent>({ type: 'reasoning', delta: 'hm ' }),
  fc.constantFrom<ModelErrorCode>('server_error', 'cut_stream', 'auth').map((code) => new ModelError(code, 'x')),
  fc.constantFrom<FinishReason>('stop', 'length', 'content_filter').map((reason) => finish([], reason)),
  fc.array(fc.constantFrom('good', 'bad', 'stuck', 'unknown'), { minLength: 1, maxLength: 3 }).map((names) => finish(calls(...names))),
  fc.constant(new TypeError('bug')),
);
const script = fc.array(modelEvent, { maxLength: 4 });

test('whatever the model does and whenever the turn is ended: one end, complete pairs, and every shown word in a message', async () => {
  const tools = [tool('good', async () => 'ok'), tool('bad', () => Promise.reject(new Error('x'))), tool('stuck', hang)];
  const kinds = fc.constantFrom<TurnAbort['kind']>('interrupted', 'stopped', 'suspended');
  await fc.assert(
    fc.asyncProperty(fc.array(script, { maxLength: 5 }), fc.nat(20), kinds, async (scripts, abortAfter, kind) => {
      const clock = { ...systemClock, sleep: (_ms: number, signal?: AbortSignal) => (signal?.aborted ? Promise.reject(signal.reason) : hang()) };
      const controller = new AbortController();
      const events: TurnEvent[] = [];
      setTimeout(() => controller.abort({ kind }), 3);
      for await (const event of agentOf(stubborn(...scripts), tools, { clock, maxRetries: 1 }).run(input, controller.signal)) {
        events.push(event);
        if (events.length === abortAfter) controller.abort({ kind });
      }
      const end = endOf(events);
      assert.equal(events.filter(({ type }) => type === 'end').length, 1);
      const stored = [asked, ...messagesOf(events)];
      if (end.reason === 'suspended') return;
      const shown = events.map((event) => (event.type === 'text' ? event.delta : '')).join('');
      const kept = messagesOf(events).map(({ role, content }) => (role === 'assistant' ? content : '')).join('');
      assert.equal(kept.trim(), shown.trim());
      const results = stored.filter(({ role }) => role === 'tool').length;
      assert.equal(results, stored.reduce((sum, row) => sum + (row.toolCalls?.length ?? 0), 0));
      assert.deepEqual(resumeTranscript(stored), []);
    }),
    { numRuns: 150 },
  );
});

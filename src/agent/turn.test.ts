import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TranscriptMessage } from '../core/transcript.ts';
import type { TurnEvent } from '../core/turn.ts';
import { manualClock } from '../lib/clock.ts';
import { capturingLogger, silentLogger } from '../lib/logger.ts';
import type { TurnInput } from './contract.ts';
import { calls, chunkOf, chunks, newChatSimulator, raw, says, status, usageChunk } from './models/chat-simulator.ts';
import type { ChatSimulator } from './models/chat-simulator.ts';
import { newOpenAiProvider } from './models/openai.ts';
import { ToolError } from './tools/contract.ts';
import type { Tool } from './tools/contract.ts';
import { toolSet } from './tools/tool-set.ts';
import { newAgent } from './turn.ts';
import type { AgentDeps } from './turn.ts';

let simulator: ChatSimulator;
before(async () => {
  simulator = await newChatSimulator();
});
after(() => simulator[Symbol.asyncDispose]());

const tool = (name: string, run: Tool['run'], parallelSafe = false): Tool => ({
  definition: { name, description: name, parameters: { type: 'object', properties: {} } },
  run,
  parallelSafe,
});

const look = tool('look', async (args) => `saw ${JSON.stringify(args)}`);

interface Run {
  readonly events: TurnEvent[];
  /** Events without deltas, each in a few words. */
  readonly outline: readonly string[];
  readonly messages: readonly TranscriptMessage[];
  readonly text: string;
  readonly end: Extract<TurnEvent, { type: 'end' }>;
}

const words = (event: TurnEvent): string => {
  switch (event.type) {
    case 'text':
    case 'reasoning':
      return event.type;
    case 'tool_started':
      return `started ${event.callId}`;
    case 'tool_finished':
      return `finished ${event.callId} ${event.ok ? 'ok' : 'failed'}`;
    case 'message':
      return `message ${event.message.role} ${event.message.toolCallId ?? event.message.finishReason ?? ''}`.trim();
    case 'usage':
      return 'usage';
    case 'retrying':
      return `retrying ${event.attempt} ${event.delayMs} ${event.reason}`;
    case 'end':
      return `end ${event.reason}`;
    default:
      return event satisfies never;
  }
};

const summary = (events: TurnEvent[]): Run => {
  const end = events.at(-1);
  assert.ok(end?.type === 'end', 'the last event is the end');
  assert.equal(events.filter(({ type }) => type === 'end').length, 1);
  return {
    events,
    outline: events.filter(({ type }) => type !== 'text' && type !== 'reasoning').map(words),
    messages: events.flatMap((event) => (event.type === 'message' ? [event.message] : [])),
    text: events.map((event) => (event.type === 'text' ? event.delta : '')).join(''),
    end,
  };
};

/** Runs a turn against the simulator; waiting for a retry takes no time. */
const run = async (options: { input?: Partial<TurnInput>; deps?: Partial<AgentDeps>; tools?: readonly Tool[] } = {}): Promise<Run> => {
  const clock = manualClock();
  const provider = newOpenAiProvider({ baseUrl: simulator.baseUrl, requestTimeoutMs: 60_000, stallTimeoutMs: 60_000 }, { clock, log: silentLogger });
  const agent = newAgent({ provider, model: 'sim-1', tools: toolSet(options.tools ?? [look]), clock, log: silentLogger, maxRetries: 3, random: () => 0, ...options.deps });
  const input: TurnInput = {
    sessionId: 's1',
    turnId: 't1',
    system: 'Be kind.',
    transcript: [{ role: 'user', content: 'hello' }],
    steering: () => [],
    asyncDelivery: true,
    limits: { activityMs: 1_800_000, totalMs: 7_200_000 },
    ...options.input,
  };
  const events: TurnEvent[] = [];
  for await (const event of agent.run(input, new AbortController().signal)) {
    events.push(event);
    if (event.type === 'retrying') setImmediate(() => void clock.advance(event.delayMs));
  }
  assert.equal(clock.waiting(), 0, 'no timer outlives the turn');
  return summary(events);
};

const call = (id: string, name = 'look', args = '{}') => ({ id, name, arguments: args });

const lastBody = () => simulator.requests.at(-1)!.body;

test('an answer is text, then the message, then its usage, then the end', async () => {
  simulator.next(says('Good morning to you'));
  const { outline, text, messages, events } = await run();
  assert.deepEqual(outline, ['message assistant stop', 'usage', 'end completed']);
  assert.equal(text, 'Good morning to you');
  assert.deepEqual(messages, [{ role: 'assistant', content: text, finishReason: 'stop' }]);
  const usage = events.find((event) => event.type === 'usage');
  assert.ok(usage?.type === 'usage' && usage.usage.inputTokens === 100 && usage.model === 'sim-1');
});

test('reasoning is streamed apart and kept with the message; another model may be asked for', async () => {
  simulator.next(chunks(chunkOf({ reasoning_content: 'hm ' }), chunkOf({ reasoning_content: 'ok' }), chunkOf({ content: 'Yes' }, 'stop')));
  const { messages, text } = await run({ input: { model: 'other' } });
  assert.deepEqual(messages, [{ role: 'assistant', content: 'Yes', finishReason: 'stop', reasoning: 'hm ok' }]);
  assert.equal(text, 'Yes');
  assert.equal(lastBody()['model'], 'other');
});

test('tools: the request is out before a tool starts, each result right after it ran, and the model goes on from them', async () => {
  simulator.next(calls(call('a', 'look', '{"at":"sky"}'), call('b')), says('Blue.'));
  const { outline, messages } = await run();
  assert.deepEqual(outline, [
    'message assistant tool_calls',
    'usage',
    'started a',
    'message tool a',
    'finished a ok',
    'started b',
    'message tool b',
    'finished b ok',
    'message assistant stop',
    'usage',
    'end completed',
  ]);
  assert.equal(messages[1]?.content, 'saw {"at":"sky"}');
  assert.deepEqual(lastBody().messages.map(({ role }) => role), ['system', 'user', 'assistant', 'tool', 'tool']);
});

test('a tool does not run before the reader of the stream has taken its request', async () => {
  let ran = false;
  const provider = newOpenAiProvider({ baseUrl: simulator.baseUrl, requestTimeoutMs: 60_000, stallTimeoutMs: 60_000 }, { clock: manualClock(), log: silentLogger });
  const spy = tool('look', async () => {
    ran = true;
    return 'x';
  });
  const agent = newAgent({ provider, model: 'm', tools: toolSet([spy]), clock: manualClock(), log: silentLogger, maxRetries: 0 });
  simulator.next(calls(call('a')), says('ok'));
  const input: TurnInput = { sessionId: 's', turnId: 't', system: '', transcript: [{ role: 'user', content: 'x' }], steering: () => [], asyncDelivery: true, limits: { activityMs: 60_000, totalMs: 60_000 } };
  for await (const event of agent.run(input, new AbortController().signal)) {
    if (event.type !== 'message' || event.message.toolCalls === undefined) continue;
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(ran, false);
  }
  assert.equal(ran, true);
});

test('neighbouring tools that only read run at the same time; their results keep the order of the calls', async () => {
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const slow = tool('slow', async () => {
    log.push('slow in');
    await gate.promise;
    log.push('slow out');
    return 'slow';
  }, true);
  const fast = tool('fast', async () => {
    log.push('fast');
    gate.resolve();
    return 'fast';
  }, true);
  const alone = tool('alone', async () => {
    log.push('alone');
    return 'alone';
  });
  simulator.next(calls(call('a', 'slow'), call('b', 'fast'), call('c', 'alone'), call('d', 'fast')), says('ok'));
  const { messages } = await run({ tools: [slow, fast, alone] });
  assert.deepEqual(log, ['slow in', 'fast', 'slow out', 'alone', 'fast']);
  assert.deepEqual(messages.filter(({ role }) => role === 'tool').map(({ content }) => content), ['slow', 'fast', 'alone', 'fast']);
});

test('failures that may pass are tried again, after the time the server asked for or a growing one', async () => {
  simulator.next(status(429, '', { 'retry-after': '7' }), status(500), status(503), says('at last'));
  const { outline, text } = await run();
  assert.deepEqual(outline, ['retrying 1 7000 rate_limited', 'retrying 2 2000 server_error', 'retrying 3 4000 overloaded', 'message assistant stop', 'usage', 'end completed']);
  assert.equal(text, 'at last');
});

test('after the last retry, and for failures that do not pass, the turn ends with a sentence', async () => {
  simulator.next(status(500), status(500), status(500), status(500));
  const tired = await run();
  assert.deepEqual(tired.outline.at(-1), 'end model_error');
  assert.equal(tired.outline.length, 4);
  assert.deepEqual(tired.end.error, { code: 'server_error', sentence: 'The model had an internal error. Please try again.' });
  simulator.next(status(401));
  const refused = await run();
  assert.deepEqual(refused.outline, ['end model_error']);
  assert.equal(refused.end.error?.code, 'auth');
});

test('a server that asks for more than ten minutes is not waited for', async () => {
  simulator.next(status(429, '', { 'retry-after': '601' }));
  assert.deepEqual((await run()).outline, ['end model_error']);
  simulator.next(status(429, '', { 'retry-after': '600' }), says('ok'));
  assert.equal((await run()).end.reason, 'completed');
});

const event = (chunk: unknown): string => `data: ${JSON.stringify(chunk)}\n\n`;

test('when the stream breaks after text was shown, the text is kept, marked, and not asked for again', async () => {
  const from = simulator.requests.length;
  simulator.next(raw([event(chunkOf({ content: 'Half an ' }))], { then: 'cut' }));
  const { outline, messages, end } = await run();
  assert.deepEqual(outline, ['message assistant cut', 'end model_error']);
  assert.equal(messages[0]?.content, 'Half an ');
  assert.equal(end.error?.code, 'cut_stream');
  assert.match(end.error?.sentence ?? '', /incomplete/);
  assert.equal(simulator.requests.length - from, 1);
});

test('when it breaks before any text, it is asked again and the reasoning starts over', async () => {
  simulator.next(raw([event(chunkOf({ reasoning: 'first ' }))], { then: 'cut' }), chunks(chunkOf({ reasoning: 'second' }), chunkOf({ content: 'ok' }, 'stop')));
  const { outline, messages } = await run();
  assert.equal(outline[0], 'retrying 1 1000 cut_stream');
  assert.equal(messages[0]?.reasoning, 'second');
});

test('an answer that hits the output limit is continued into one message, with more room each time', async () => {
  simulator.next(says('one ', 'length'), says('two ', 'length'), says('three'));
  const { outline, messages, text } = await run({ deps: { maxOutputTokens: 100 } });
  assert.deepEqual(outline, ['message assistant stop', 'usage', 'usage', 'usage', 'end completed']);
  assert.equal(messages[0]?.content, 'one two three');
  assert.equal(text, 'one two three');
  assert.deepEqual(simulator.requests.slice(-3).map(({ body }) => body['max_tokens']), [100, 200, 400]);
  const [, , partial, ask] = lastBody().messages;
  assert.deepEqual([partial?.['role'], partial?.['content'], ask?.['role']], ['assistant', 'one two ', 'user']);
});

test('after three continuations the answer ends as it is', async () => {
  simulator.next(...['a ', 'b ', 'c ', 'd '].map((text) => says(text, 'length')));
  const { messages, end } = await run();
  assert.deepEqual([messages[0]?.content, messages[0]?.finishReason, end.reason], ['a b c d ', 'length', 'completed']);
});

test('a tool call that the output limit cut off is not run; the model is told and can repeat it', async () => {
  const ran: unknown[] = [];
  const spy = tool('look', async (args) => {
    ran.push(args);
    return 'ok';
  });
  for (const args of ['{"at": "sk', '']) {
    simulator.next(chunks(chunkOf({ tool_calls: [{ index: 0, ...{ id: 'a', function: { name: 'look', arguments: args } } }] }), chunkOf({}, 'length')), says('sorry'));
    const { messages } = await run({ tools: [spy] });
    assert.match(messages[1]?.content ?? '', /cut this call off.*not run/);
  }
  assert.deepEqual(ran, []);
});

test('a filtered answer keeps what was shown and ends with its own sentence', async () => {
  simulator.next(chunks(chunkOf({ content: 'Well' }), chunkOf({}, 'content_filter')));
  const { outline, end } = await run();
  assert.deepEqual(outline, ['message assistant content_filter', 'usage', 'end model_error']);
  assert.equal(end.error?.code, 'content_blocked');
});

test('an empty answer is asked for again twice, then the turn ends with a sentence and no empty message', async () => {
  const empty = chunks(chunkOf({ content: '' }), chunkOf({ reasoning: 'hm' }), chunkOf({}, 'stop'), usageChunk);
  simulator.next(empty, empty, says('here'));
  const second = await run();
  assert.deepEqual(second.outline, ['retrying 1 0 empty_answer', 'retrying 2 0 empty_answer', 'message assistant stop', 'usage', 'usage', 'usage', 'end completed']);
  simulator.next(empty, empty, empty);
  const never = await run();
  assert.deepEqual(never.messages, []);
  assert.deepEqual([never.end.reason, never.end.error?.code], ['model_error', 'empty_answer']);
});

test('a call with broken arguments or an unknown name is not run; the model is told what to do better', async () => {
  simulator.next(calls(call('a', 'look', '{"at": '), call('b', 'lok'), call('c', 'look', '[1]'), call('d', ''), call('e')), says('sorry'));
  const { messages, outline, end } = await run();
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
  assert.match(results[0]!, /not a JSON object.*not run/);
  assert.match(results[1]!, /no tool named "lok".*not run.*Tools: look/);
  assert.match(results[2]!, /not a JSON object/);
  assert.match(results[3]!, /names no tool/);
  assert.equal(results[4], 'saw {}');
  assert.deepEqual(outline.filter((line) => line.startsWith('started')), ['started e']);
  assert.equal(end.reason, 'completed');
});

test('three such messages in a row end the turn, with every pair complete; a good one in between starts the count anew', async () => {
  const bad = calls(call('a', 'nope'));
  simulator.next(bad, bad, bad);
  const { end, messages } = await run();
  assert.deepEqual([end.reason, end.error?.code], ['model_error', 'bad_tool_calls']);
  assert.equal(messages.length, 6);
  simulator.next(bad, bad, calls(call('a')), bad, bad, says('fine'));
  assert.equal((await run()).end.reason, 'completed');
});

test('a tool that fails has a result: its own words, or an id that the log has too', async () => {
  const { log, lines } = capturingLogger();
  const own = tool('own', () => Promise.reject(new ToolError('unavailable', 'The printer is off.')));
  const bug = tool('bug', () => {
    throw new TypeError('secret internals');
  });
  simulator.next(calls(call('a', 'own'), call('b', 'bug')), says('oh'));
  const { messages, outline } = await run({ tools: [own, bug], deps: { log } });
  assert.equal(messages[1]?.content, 'Error (unavailable): The printer is off.');
  const id = /\((err_\w+)\)/.exec(messages[2]?.content ?? '')?.[1];
  assert.ok(id !== undefined && lines.some((line) => line.includes(id) && line.includes('secret internals')));
  assert.doesNotMatch(messages[2]!.content, /secret/);
  assert.ok(outline.includes('finished a failed') && outline.includes('finished b failed'));
});

test('a tool knows its turn, and its result is bounded', async () => {
  const seen: unknown[] = [];
  const big = tool('big', async (_args, context) => {
    seen.push([context.sessionId, context.turnId, context.callId, context.asyncDelivery]);
    return 'x'.repeat(1_000_000);
  });
  simulator.next(calls(call('a', 'big')), says('ok'));
  const { messages } = await run({ tools: [big], input: { asyncDelivery: false } });
  assert.deepEqual(seen, [['s1', 't1', 'a', false]]);
  assert.ok(messages[1]!.content.length <= 100_000);
});

test('when the steps are used up there is one more answer, in words', async () => {
  simulator.next(calls(call('a')), calls(call('b')), says('This is as far as I got.'));
  const { outline, messages } = await run({ input: { limits: { activityMs: 60_000, totalMs: 60_000, maxIterations: 2 } } });
  assert.deepEqual(outline.slice(-3), ['message assistant stop', 'usage', 'end limit']);
  assert.equal(messages.at(-1)?.content, 'This is as far as I got.');
  assert.equal(lastBody()['tool_choice'], 'none');
  assert.match(String(lastBody().messages.at(-1)?.['content']), /^saw \{\}\n\n\[All steps/);
  assert.equal(messages.at(-2)?.content, 'saw {}');
});

test('a model that still calls tools then is not obeyed, and the person is told', async () => {
  simulator.next(calls(call('a')), ...Array.from({ length: 3 }, () => calls(call('z'))));
  const { messages, end } = await run({ input: { limits: { activityMs: 60_000, totalMs: 60_000, maxIterations: 1 } } });
  assert.equal(end.reason, 'limit');
  assert.match(messages.at(-1)?.content ?? '', /all 1 steps/);
  assert.equal(messages.at(-1)?.toolCalls, undefined);
});

test('what people say meanwhile joins as their message before the next model call', async () => {
  const waiting = [['and hurry'], ['to the left', 'please'], []];
  simulator.next(calls(call('a')), says('ok'));
  const { outline, messages } = await run({ input: { steering: async () => waiting.shift() ?? [] } });
  assert.deepEqual(outline.filter((line) => line.startsWith('message')), [
    'message user',
    'message assistant tool_calls',
    'message tool a',
    'message user',
    'message user',
    'message assistant stop',
  ]);
  assert.equal(messages[0]?.content, 'and hurry');
  const sent = lastBody().messages;
  assert.equal(sent[1]?.['content'], 'hello\n\nand hurry');
  assert.deepEqual(sent.map(({ role }) => role), ['system', 'user', 'assistant', 'tool', 'assistant', 'user']);
  assert.equal(sent.at(-1)?.['content'], 'to the left\n\nplease');
});

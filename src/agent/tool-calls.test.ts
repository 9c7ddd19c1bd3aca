import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { noUsage } from '../core/transcript.ts';
import { manualClock } from '../lib/clock.ts';
import { capturingLogger, silentLogger } from '../lib/logger.ts';
import { calls, chunkOf, chunks, newChatSimulator, says } from './models/chat-simulator.ts';
import type { ChatSimulator } from './models/chat-simulator.ts';
import { newOpenAiProvider } from './models/endpoints/openai.ts';
import { ToolError } from './tools/contract.ts';
import { toolSet } from './tools/tool-set.ts';
import { newAgent } from './turn.ts';
import { call, hello, runAgainst, tool } from './turn.test-support.ts';
import type { Run } from './turn.test-support.ts';

let simulator: ChatSimulator;
before(async () => {
  simulator = await newChatSimulator();
});
after(() => simulator[Symbol.asyncDispose]());

const run = (options?: Parameters<typeof runAgainst>[1]): Promise<Run> => runAgainst(simulator, options);
const lastBody = () => simulator.requests.at(-1)!.body;

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
  for await (const event of agent.run(hello, new AbortController().signal)) {
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

test('a tool call that the output limit cut off is not run; the model is told and can repeat it', async () => {
  const ran: unknown[] = [];
  const spy = tool('look', async (args) => {
    ran.push(args);
    return 'ok';
  });
  for (const args of ['{"at": "sk', '']) {
    simulator.next(chunks(chunkOf({ tool_calls: [{ index: 0, id: 'a', function: { name: 'look', arguments: args } }] }), chunkOf({}, 'length')), says('sorry'));
    const { messages } = await run({ tools: [spy] });
    assert.match(messages[1]?.content ?? '', /cut this call off.*not run/);
  }
  assert.deepEqual(ran, []);
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

test('what others cost that a tool had work for it is told with its result, marked as theirs, also when the tool fails', async () => {
  const cost = { ...noUsage, inputTokens: 5, outputTokens: 2 };
  const helped = (fails: boolean) =>
    tool('look', async (_args, context) => {
      context.spent?.(cost, 'helper-1');
      if (fails) throw new ToolError('failed', 'no');
      return 'done';
    });
  for (const fails of [false, true]) {
    simulator.next(calls(call('a')), says('Blue.'));
    const { events, outline } = await run({ tools: [helped(fails)] });
    assert.deepEqual(outline.slice(2, 6), ['started a', 'message tool a', `finished a ${fails ? 'failed' : 'ok'}`, 'usage']);
    assert.deepEqual(events.filter((event) => event.type === 'usage' && event.helper === true), [{ type: 'usage', usage: cost, model: 'helper-1', helper: true }]);
  }
});

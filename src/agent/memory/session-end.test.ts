import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { noUsage } from '../../core/transcript.ts';
import { systemClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { addTurnTotals } from '../../store/sessions/turn-totals.ts';
import { endSession, reopenSession } from '../../store/sessions/sessions.ts';
import type { EndReason } from '../../store/sessions/sessions.ts';
import { appendMessage } from '../../store/sessions/transcripts.ts';
import { calls, newChatSimulator, says } from '../models/chat-simulator.ts';
import type { ChatSimulator } from '../models/chat-simulator.ts';
import { newOpenAiProvider } from '../models/endpoints/openai.ts';
import { newAgent } from '../turn.ts';
import { dmSession, newMemoryScene } from './agent-memory.test-support.ts';
import type { MemoryScene } from './agent-memory.test-support.ts';
import { memorySection } from './options.ts';
import { reviewText } from './review.ts';
import { lookAfterSessionEnds } from './session-end.ts';

let scene: MemoryScene;
let model: ChatSimulator;
const { signal } = new AbortController();
beforeEach(async () => {
  scene = await newMemoryScene();
  model = await newChatSimulator();
});
afterEach(async () => {
  await model[Symbol.asyncDispose]();
  await scene[Symbol.asyncDispose]();
});

const talk = (turns: number): Promise<void> =>
  scene.store.write(async (tx) => {
    for (let i = 0; i < turns; i += 1) {
      await appendMessage(tx, { sessionId: 's1', turnId: null }, { role: 'user', content: `question ${i}` });
      await appendMessage(tx, { sessionId: 's1', turnId: null }, { role: 'assistant', content: `answer ${i}` });
      await addTurnTotals(tx, 's1', { usage: noUsage, model: null });
    }
  });
const end = (reason: EndReason = 'idle'): Promise<boolean> => scene.store.write((tx) => endSession(tx, 's1', reason));

const lookAfter = (options: object = {}): Promise<number> => {
  const provider = newOpenAiProvider({ baseUrl: model.baseUrl, requestTimeoutMs: 60_000, stallTimeoutMs: 60_000 }, { clock: systemClock, log: silentLogger });
  const memory = scene.memory(options);
  const agentWith: Parameters<typeof lookAfterSessionEnds>[0]['agentWith'] = (tools) => newAgent({ provider, model: 'sim-1', tools, clock: systemClock, log: silentLogger, maxRetries: 0 });
  return lookAfterSessionEnds({ agent: 'main', options: memorySection.schema.parse(options), store: scene.store, memory, log: silentLogger, agentWith }, signal);
};

const noted = async (): Promise<readonly string[]> => (await scene.memory().entries('user', dmSession))?.entries ?? [];
const keep = (content: string) => calls({ id: 'c1', name: 'memory', arguments: JSON.stringify({ action: 'add', target: 'user', content }) });

test('when a conversation ends, the model looks through it once and keeps what it wants to', async () => {
  await talk(4);
  await end();
  model.next(keep('Has a cat'), says('nothing more'));
  assert.equal(await lookAfter(), 1);
  assert.deepEqual(await noted(), ['Has a cat']);
  const [request] = model.requests;
  assert.ok(request !== undefined);
  assert.deepEqual((request.body['tools'] as readonly { function: { name: string } }[]).map((tool) => tool.function.name), ['memory']);
  assert.match(JSON.stringify(request.body.messages), /Person: question 0.*You: answer 3/);
  assert.match(JSON.stringify(request.body.messages[0]), /## user \(0% used: 0 of 1,375 characters\)\\n\(empty\)/);
  assert.equal(await lookAfter(), 0);
  assert.equal(model.requests.length, 2);
});

test('a review that dies is not made again', async () => {
  await talk(4);
  await end();
  assert.equal(await lookAfter(), 1, 'the model answers with an error');
  assert.equal(await lookAfter(), 0);
  assert.deepEqual(await noted(), []);
});

test('a conversation that was resumed and ended again is looked through again, one that is open again is not', async () => {
  await talk(4);
  await end('switched');
  await scene.store.write((tx) => reopenSession(tx, 's1'));
  assert.equal(await lookAfter(), 1);
  assert.equal(model.requests.length, 0);
  await end('new');
  model.next(says('nothing'));
  assert.equal(await lookAfter(), 1);
  assert.equal(model.requests.length, 1);
});

test('short conversations, branches and gateways that do not want it are left alone', async () => {
  await talk(3);
  await end();
  await lookAfter();
  await scene.store.write((tx) => reopenSession(tx, 's1'));
  await talk(3);
  await end('branched');
  await lookAfter();
  await scene.store.write((tx) => reopenSession(tx, 's1'));
  await end();
  await lookAfter({ review_at_end: false });
  await scene.store.write((tx) => reopenSession(tx, 's1'));
  await end();
  await lookAfter({ memory_enabled: false, user_profile_enabled: false });
  assert.equal(model.requests.length, 0);
});

test('a review ends after a few steps, whatever the model does', async () => {
  await talk(4);
  await end();
  let count = 0;
  model.otherwise((response, request) => keep(`fact ${(count += 1)}`)(response, request));
  await lookAfter();
  assert.ok(model.requests.length <= 10);
  assert.equal((await noted()).length, 5);
});

test('what is read of a long conversation is its end, without tools, without what was recalled', () => {
  const long = Array.from({ length: 100 }, (_, i) => ({ role: 'user', content: `${i} ${'x'.repeat(5000)}` }) as const);
  const text = reviewText([...long, { role: 'tool', content: 'secret output' }, { role: 'assistant', content: '' }, { role: 'user', content: 'last\n\n<memory-context>\nold\n</memory-context>' }]);
  assert.ok(text.length < 45_000);
  assert.ok(text.endsWith('Person: last'));
  assert.match(text, /Person: 99 x/);
  assert.doesNotMatch(text, /Person: 1 x|secret output|old/);
});

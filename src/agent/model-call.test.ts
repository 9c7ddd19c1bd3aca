import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ModelError } from '../core/errors.ts';
import type { TranscriptMessage } from '../core/transcript.ts';
import type { TurnEvent } from '../core/turn.ts';
import { manualClock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import { callModel } from './model-call.ts';
import type { Draft, Finish } from './model-call.ts';
import { newChatSimulator, raw, status } from './models/chat-simulator.ts';
import type { Answer, ChatSimulator } from './models/chat-simulator.ts';
import type { ModelRoute } from './models/contract.ts';
import { newEndpoint } from './models/endpoints/endpoint.ts';
import { newRouteCursor } from './models/endpoints/route-cursor.ts';
import type { RouteCursor } from './models/endpoints/route-cursor.ts';
import { answers, scripts } from './models/scripted-answers.ts';
import type { Wire } from './models/wires/wire.ts';
import { watchTurn } from './turn-watch.ts';

let first: ChatSimulator;
let second: ChatSimulator;
before(async () => {
  [first, second] = await Promise.all([newChatSimulator(), newChatSimulator()]);
});
after(() => Promise.all([first[Symbol.asyncDispose](), second[Symbol.asyncDispose]()]));

const clock = manualClock();

const route = (simulator: ChatSimulator, wire: Wire['name'], options: { readonly name?: string; readonly keys?: readonly string[] } = {}): ModelRoute => ({
  provider: newEndpoint({ name: options.name ?? wire, wire, baseUrl: simulator.baseUrl, keys: options.keys ?? ['k'], requestTimeoutMs: 60_000, stallTimeoutMs: 60_000 }, { clock, log: silentLogger }),
  model: `model-of-${options.name ?? wire}`,
});

interface Called {
  readonly retries: readonly string[];
  readonly text: string;
  readonly finish?: Finish;
  readonly error?: ModelError;
  readonly draft: Draft;
}

const draftOf = (text = ''): Draft => ({ text, reasoning: '', replay: undefined });

/** One call against the simulators; waiting takes no time. */
const called = async (routes: RouteCursor, options: { readonly messages?: readonly TranscriptMessage[]; readonly draft?: Draft } = {}): Promise<Called> => {
  const watch = watchTurn({ clock, limits: { activityMs: 1_800_000, totalMs: 7_200_000 }, signal: new AbortController().signal });
  const { messages = [{ role: 'user', content: 'hello' }], draft = draftOf() } = options;
  const events = callModel({ routes, clock, log: silentLogger, watch, maxRetries: 2, random: () => 0 }, { model: 'unused', system: '', messages, tools: [] }, draft);
  const seen: TurnEvent[] = [];
  const outcome = { draft, text: '' };
  try {
    for (;;) {
      const next = await events.next();
      if (next.done) return { ...outcome, ...summary(seen), finish: next.value };
      seen.push(next.value);
      if (next.value.type === 'retrying') {
        const { delayMs } = next.value;
        setImmediate(() => void clock.advance(delayMs));
      }
    }
  } catch (error) {
    assert.ok(error instanceof ModelError, String(error));
    return { ...outcome, ...summary(seen), error };
  } finally {
    watch.close();
  }
};

const summary = (events: readonly TurnEvent[]): Pick<Called, 'retries' | 'text'> => ({
  retries: events.flatMap((event) => (event.type === 'retrying' ? [`${event.reason} ${event.delayMs}${event.instead === undefined ? '' : ` instead: ${event.instead}`}`] : [])),
  text: events.map((event) => (event.type === 'text' ? event.delta : '')).join(''),
});

const chat = scripts.chat;
const busy: Answer = status(503, chat.error('api_error', 'busy'));
const refused: Answer = status(401, chat.error('authentication_error', 'no'));

test('a failure that may pass is repeated, and the answer is the only thing shown', async () => {
  first.next(busy, status(429, '', { 'retry-after': '7' }), answers(chat, { text: 'here' }));
  const { retries, text, finish } = await called(newRouteCursor(route(first, 'chat')));
  assert.deepEqual(retries, ['overloaded 1000', 'rate_limited 7000']);
  assert.deepEqual([text, finish?.reason], ['here', 'stop']);
});

test('nothing is repeated once text was shown', async () => {
  first.next(raw(chat.events({ text: 'par ticular' }).slice(0, -3)));
  const { retries, error, draft } = await called(newRouteCursor(route(first, 'chat'), [route(second, 'chat')]));
  assert.deepEqual([retries, error?.code, draft.text], [[], 'cut_stream', 'par ticular']);
});

test('a limited key makes way for the next at once', async () => {
  const from = first.requests.length;
  first.next(status(429, '', { 'retry-after': '300' }), refused, answers(chat, { text: 'third' }));
  const { retries, text } = await called(newRouteCursor(route(first, 'chat', { keys: ['one', 'two', 'three'] })));
  assert.deepEqual([retries, text], [['rate_limited 0', 'auth 0'], 'third']);
  assert.deepEqual(first.requests.slice(from).map(({ headers }) => headers.authorization), ['Bearer one', 'Bearer two', 'Bearer three']);
});

test('who cannot answer is replaced for the rest of the turn, whatever the other one speaks, and told to the person', async () => {
  const routes = newRouteCursor(route(first, 'chat', { name: 'mine' }), [route(second, 'anthropic', { name: 'theirs' })]);
  first.next(refused);
  second.next(answers(scripts.anthropic, { text: 'I stand in' }), answers(scripts.anthropic, { text: 'still me' }));
  const { retries, text } = await called(routes);
  assert.deepEqual([retries, text], [['auth 0 instead: theirs, model-of-theirs'], 'I stand in']);
  assert.equal(second.requests.at(-1)?.body['model'], 'model-of-theirs');
  assert.equal((await called(routes)).text, 'still me');
});

test('retries come before somebody else, and somebody else has retries of its own', async () => {
  const routes = newRouteCursor(route(first, 'chat', { name: 'mine' }), [route(second, 'chat', { name: 'theirs' })]);
  first.next(busy, busy, busy);
  second.next(busy, answers(chat, { text: 'at last' }));
  const { retries, text } = await called(routes);
  assert.deepEqual(retries, ['overloaded 1000', 'overloaded 2000', 'overloaded 0 instead: theirs, model-of-theirs', 'overloaded 1000']);
  assert.equal(text, 'at last');
});

test('when nobody is left, the last failure is thrown', async () => {
  first.next(refused);
  second.next(status(402, ''));
  const { error } = await called(newRouteCursor(route(first, 'chat'), [route(second, 'chat')]));
  assert.equal(error?.code, 'billing');
});

test('an overflow is thrown at once with what fits, also when somebody else could be asked', async () => {
  first.next(status(400, chat.error('invalid_request_error', "This model's maximum context length is 4096 tokens.")));
  const { retries, error } = await called(newRouteCursor(route(first, 'chat'), [route(second, 'chat')]));
  assert.deepEqual([retries, error?.code, error?.rule.compress, error?.facts.windowTokens], [[], 'context_overflow', true, 4096]);
});

const sealed = { reasoning: { text: 'they greet', seal: 'SEALED' }, text: 'Looking.', calls: [{ id: 'call_a', name: 'look', arguments: '{}' }] };

test('reasoning that the model no longer accepts is left out for the rest of the turn', async () => {
  const routes = newRouteCursor(route(first, 'anthropic'));
  first.next(answers(scripts.anthropic, sealed));
  const { draft, finish } = await called(routes);
  assert.ok(draft.replay !== undefined && finish !== undefined);
  const messages: TranscriptMessage[] = [
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: draft.text, toolCalls: finish.toolCalls, replay: draft.replay },
    { role: 'tool', content: 'x', toolCallId: 'call_a' },
  ];
  const from = first.requests.length;
  first.next(status(400, scripts.anthropic.error('invalid_request_error', 'Invalid `signature` in `thinking` block')), answers(scripts.anthropic, { text: 'a' }), answers(scripts.anthropic, { text: 'b' }));
  assert.deepEqual((await called(routes, { messages })).retries, ['stale_reasoning 0']);
  await called(routes, { messages });
  assert.deepEqual(first.requests.slice(from).map(({ body }) => JSON.stringify(body).includes('SEALED')), [true, false, false]);
});

test('a message that two calls wrote has nothing to be sent back', async () => {
  first.next(answers(scripts.anthropic, sealed));
  const { draft } = await called(newRouteCursor(route(first, 'anthropic')), { draft: draftOf('The beginning. ') });
  assert.equal(draft.replay, undefined);
});

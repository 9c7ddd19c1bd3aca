import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ModelError } from '../../core/errors.ts';
import type { ModelErrorCode } from '../../core/errors.ts';
import { manualClock, systemClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { newChatSimulator, says, silence, status } from './chat-simulator.ts';
import type { ChatSimulator } from './chat-simulator.ts';
import { newCompleteText } from './complete-text.ts';
import type { CompleteText, CompleteTextOptions } from './complete-text.ts';
import { askedTimes } from './conformance.test-support.ts';
import type { ModelRoute } from './contract.ts';
import { newEndpoint } from './endpoints/endpoint.ts';

let small: ChatSimulator;
let main: ChatSimulator;
before(async () => {
  [small, main] = await Promise.all([newChatSimulator(), newChatSimulator()]);
});
after(() => Promise.all([small[Symbol.asyncDispose](), main[Symbol.asyncDispose]()]));

const route = (simulator: ChatSimulator, model: string): ModelRoute => ({
  provider: newEndpoint({ name: 'test', wire: 'chat', baseUrl: simulator.baseUrl, keys: [] }, { clock: systemClock, log: silentLogger }),
  model,
});

const completer = (more: Partial<CompleteTextOptions> = {}): CompleteText =>
  newCompleteText({ routes: [route(small, 'small'), route(main, 'main')], timeoutMs: 60_000, maxRetries: 0, clock: systemClock, log: silentLogger, ...more });

const job = { system: 'Name it.', prompt: 'A long talk.', maxOutputTokens: 20 };
const never = new AbortController().signal;

const failsWith = (code: ModelErrorCode) => (error: unknown) => error instanceof ModelError && error.code === code;

test('one prompt becomes one text, without space around it', async () => {
  small.next(says('  A title \n'));
  const { text, usage, model } = await completer()(job, never);
  assert.deepEqual([text, usage.outputTokens, model], ['A title', 20, 'sim-1']);
  const { body } = small.requests.at(-1)!;
  assert.deepEqual([body['model'], body['max_tokens'], body.messages], ['small', 20, [{ role: 'system', content: 'Name it.' }, { role: 'user', content: 'A long talk.' }]]);
});

test('what the small model fails at, in any way, the main model does', async () => {
  for (const broken of [status(401), status(400, { error: { code: 'context_length_exceeded', message: 'too long' } }), says('   '), says('x', 'content_filter')]) {
    small.next(broken);
    main.next(says('From the main one'));
    assert.equal((await completer()(job, never)).text, 'From the main one');
    assert.equal(main.requests.at(-1)?.body['model'], 'main');
  }
});

test('a model that takes too long is not waited for', async () => {
  const clock = manualClock();
  const before = small.requests.length;
  small.next(silence);
  main.next(says('In time'));
  const text = completer({ clock, timeoutMs: 50 })(job, never);
  await askedTimes(small, before + 1);
  await clock.advance(50);
  assert.equal((await text).text, 'In time');
});

test('a failure that may pass is repeated first', async () => {
  const clock = manualClock();
  small.next(status(503), says('again'));
  const text = completer({ clock, maxRetries: 1, random: () => 0 })(job, never);
  while (clock.waiting() < 2) await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(1000);
  assert.equal((await text).text, 'again');
});

test('when all fail the last failure is thrown; an abort ends it at once', async () => {
  small.next(status(401));
  main.next(status(402));
  await assert.rejects(completer()(job, never), failsWith('billing'));
  const before = small.requests.length;
  small.next(silence);
  const controller = new AbortController();
  const text = completer()(job, controller.signal);
  await askedTimes(small, before + 1);
  controller.abort();
  await assert.rejects(text, failsWith('aborted'));
  await assert.rejects(completer()(job, controller.signal), failsWith('aborted'));
});

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ModelError } from '../../core/errors.ts';
import type { ModelErrorCode } from '../../core/errors.ts';
import type { TranscriptMessage } from '../../core/transcript.ts';
import { manualClock } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import { json, newChatSimulator, raw, silence, status } from './chat-simulator.ts';
import type { Answer, ChatSimulator } from './chat-simulator.ts';
import { apiKey, ask, askedTimes, elapsing, endpoint, failure, finishOf, look, never, question, rowOf, said } from './conformance.test-support.ts';
import type { ModelProvider, ModelRequest } from './contract.ts';
import type { EndpointOptions } from './endpoints/endpoint.ts';
import { answers, scripts } from './scripted-answers.ts';
import type { Wire } from './wires/wire.ts';

const call = { id: 'call_a', name: 'look', arguments: '{"x":1}' };
const seal = 'SEALED0123456789';

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A request up to the newest message: all of it stands in the next request too. */
const stableBytes = (body: string): string => {
  const { messages, input } = JSON.parse(body) as { readonly messages?: readonly unknown[]; readonly input?: readonly unknown[] };
  return body.slice(0, body.lastIndexOf(JSON.stringify((messages ?? input)?.at(-1))));
};

/** What every wire format has to do, run over all of them. */
for (const wire of Object.keys(scripts) as Wire['name'][]) {
  describe(`wire format ${wire}`, () => {
    const script = scripts[wire];
    let simulator: ChatSimulator;
    before(async () => {
      simulator = await newChatSimulator();
    });
    after(() => simulator[Symbol.asyncDispose]());
    const provider = (options: Partial<EndpointOptions> = {}, clock?: Clock): ModelProvider => endpoint({ wire, baseUrl: simulator.baseUrl, ...options }, clock);
    const lastBody = (): string => JSON.stringify(simulator.requests.at(-1)!.body);

    test('an answer arrives piece by piece with its usage and model; the request has the path, the key and the prompt', async () => {
      simulator.next(answers(script, { text: 'Hello there friend' }));
      const events = await ask(provider());
      assert.equal(said(events), 'Hello there friend');
      assert.ok(events.filter(({ type }) => type === 'text').length >= 1);
      const { usage, ...finish } = finishOf(events);
      assert.deepEqual(finish, { type: 'finish', reason: 'stop', toolCalls: [], model: 'sim-1' });
      assert.deepEqual([usage.inputTokens, usage.outputTokens, usage.cacheReadTokens, usage.reasoningTokens], [100, 20, 64, 7]);
      const seen = simulator.requests.at(-1)!;
      assert.equal(seen.path, script.path);
      assert.equal(seen.headers[wire === 'anthropic' ? 'x-api-key' : 'authorization'], wire === 'anthropic' ? apiKey : `Bearer ${apiKey}`);
      assert.equal(seen.body['stream'], true);
      assert.match(lastBody(), /Be kind\..*hello/);
    });

    test('tool calls come whole and in order; an answer in one piece reads the same', async () => {
      const answer = { text: 'Looking.', calls: [call, { id: 'call_b', name: 'look', arguments: '{}' }] };
      simulator.next(answers(script, answer), json(script.whole(answer)));
      for (let i = 0; i < 2; i += 1) {
        const events = await ask(provider(), { ...question, tools: [look] });
        assert.equal(said(events), 'Looking.');
        const { reason, toolCalls, usage } = finishOf(events);
        assert.deepEqual([reason, toolCalls, usage.outputTokens], ['tool_calls', answer.calls, 20]);
      }
    });

    test('an answer that was cut off by a limit or a filter says so', async () => {
      simulator.next(answers(script, { text: 'a', finish: 'length' }), answers(script, { text: 'a', finish: 'filter' }));
      assert.equal(finishOf(await ask(provider())).reason, 'length');
      assert.equal(finishOf(await ask(provider())).reason, 'content_filter');
    });

    test('reasoning is shown, kept, sent back to its maker word for word, and to nobody else', async () => {
      simulator.next(answers(script, { reasoning: { text: 'they greet', seal }, text: 'Let me look.', calls: [call] }));
      const events = await ask(provider(), { ...question, tools: [look] });
      assert.equal(said(events, 'reasoning'), 'they greet');
      const row = JSON.parse(JSON.stringify(rowOf(events))) as TranscriptMessage;
      assert.match(JSON.stringify(row.replay), new RegExp(seal));
      const messages: TranscriptMessage[] = [...question.messages, row, { role: 'tool', content: 'saw 1', toolCallId: call.id, toolName: 'look' }];
      simulator.next(answers(script, { text: 'Done.' }), answers(script, { text: 'Done.' }), answers(script, { text: 'Done.' }));
      await ask(provider(), { ...question, messages, tools: [look] });
      assert.match(lastBody(), new RegExp(seal));
      assert.match(lastBody(), /they greet/);
      await ask(provider(), { ...question, model: 'another', messages, tools: [look] });
      assert.doesNotMatch(lastBody(), new RegExp(seal));
      assert.match(lastBody(), /Let me look\./);
      await ask(provider(), { ...question, messages: messages.with(1, { ...row, content: 'shortened' }), tools: [look] });
      if (wire !== 'chat') assert.doesNotMatch(lastBody(), new RegExp(seal), 'what no longer belongs to the text is not sent');
    });

    test('every byte on its own, line ends of every kind and comments make no difference', async () => {
      const text = `: keep-alive\r\n\r\n${script.events({ text: 'grüß 👋🏽' }).join('').replaceAll('\n', '\r\n')}`;
      simulator.next(raw([...Buffer.from(text)].map((byte) => Uint8Array.of(byte))));
      assert.equal(said(await ask(provider())), 'grüß 👋🏽');
    });

    const begun = script.events({ text: 'par ticular' }).slice(0, -3);
    const faults: readonly { readonly what: string; readonly answer: Answer; readonly code: ModelErrorCode; readonly text?: RegExp }[] = [
      { what: 'a stream that ends in the middle', answer: raw(begun), code: 'cut_stream', text: /^par/ },
      { what: 'a stream that ends in the middle of an event', answer: raw([...begun, 'data: {"half']), code: 'cut_stream', text: /^par/ },
      { what: 'a connection that breaks', answer: raw(begun, { then: 'cut' }), code: 'cut_stream', text: /^par/ },
      { what: 'a connection that breaks before the first event', answer: raw([], { then: 'cut' }), code: 'cut_stream' },
      { what: 'a connection that breaks before the answer', answer: (response) => void response.destroy(), code: 'unreachable' },
      { what: 'an empty stream', answer: raw([]), code: 'malformed' },
      { what: 'an empty body', answer: raw([], { type: 'application/json' }), code: 'malformed' },
      { what: 'bad JSON in a stream', answer: raw([...begun, 'data: {"type": [}\n\n']), code: 'malformed', text: /^par/ },
      { what: 'bad JSON instead of a stream', answer: raw(['{"a":'], { type: 'application/json' }), code: 'malformed' },
      { what: 'JSON that is no answer', answer: json({ hello: 'world' }), code: 'malformed' },
      { what: 'a web page', answer: raw(['<!doctype html><title>Hi</title>'], { type: 'text/html; charset=utf-8' }), code: 'malformed' },
      { what: 'an error in the middle', answer: raw([...begun, script.errorEvent('overloaded_error', 'Overloaded')]), code: 'overloaded', text: /^par/ },
      { what: 'an error before anything', answer: raw([script.errorEvent('rate_limit_error', 'slow down')]), code: 'rate_limited' },
      { what: 'a refused key', answer: status(401, script.error('authentication_error', 'invalid x-api-key')), code: 'auth' },
      { what: 'an empty account', answer: status(400, script.error('invalid_request_error', 'Your credit balance is too low')), code: 'billing' },
      { what: 'status 500', answer: status(500, script.error('api_error', 'Internal server error')), code: 'server_error' },
      { what: 'status 529', answer: status(529, script.error('overloaded_error', 'Overloaded')), code: 'overloaded' },
      { what: 'an unknown model', answer: status(404, script.error('not_found_error', 'model: x')), code: 'model_not_found' },
      { what: 'a redirect', answer: status(302, '', { location: 'http://127.0.0.1:1/' }), code: 'bad_request' },
    ];

    for (const { what, answer, code, text } of faults) {
      test(`${what} is ${code}`, async () => {
        simulator.next(answer);
        const failed = await failure(provider());
        assert.equal(failed.error.code, code, failed.error.message);
        if (text !== undefined) assert.match(failed.text, text);
      });
    }

    test('a limit says how long to wait; an overflow says how much fits', async () => {
      simulator.next(
        status(429, script.error('rate_limit_error', 'slow'), { 'retry-after': '7', 'request-id': 'req_9' }),
        status(400, script.error('invalid_request_error', 'prompt is too long: 208310 tokens > 200000 maximum')),
      );
      const limited = await failure(provider());
      assert.deepEqual([limited.error.code, limited.error.status, limited.error.retryAfterMs], ['rate_limited', 429, 7000]);
      assert.match(limited.error.message, /req_9/);
      const overflow = await failure(provider());
      assert.deepEqual([overflow.error.code, overflow.error.facts.windowTokens, overflow.error.rule.compress], ['context_overflow', 200_000, true]);
    });

    test('silence before the first event and after it is a timeout', async () => {
      const clock = manualClock();
      for (const nothing of [silence, raw([], { then: 'silence' })]) {
        const before = simulator.requests.length;
        simulator.next(nothing);
        const unanswered = failure(provider({ requestTimeoutMs: 40 }, clock));
        await askedTimes(simulator, before + 1);
        assert.equal((await elapsing(clock, unanswered)).error.code, 'timeout');
      }
      simulator.next(raw(begun, { then: 'silence' }));
      const spoken = Promise.withResolvers<void>();
      const stalling = failure(provider({ stallTimeoutMs: 40 }, clock), { onEvent: ({ type }) => type === 'text' && spoken.resolve() });
      await spoken.promise;
      const stalled = await elapsing(clock, stalling);
      assert.equal(stalled.error.code, 'timeout');
      assert.match(stalled.text, /^par/);
    });

    test('an abort ends the call at once, before and in the middle of an answer', async () => {
      const early = new AbortController();
      simulator.next(silence);
      const before = simulator.requests.length;
      const waiting = failure(provider(), { signal: early.signal });
      await askedTimes(simulator, before + 1);
      early.abort({ kind: 'stopped' });
      assert.equal((await waiting).error.code, 'aborted');
      const late = new AbortController();
      simulator.next(raw(begun, { then: 'silence' }));
      await assert.rejects(
        async () => {
          for await (const each of provider().stream(question, late.signal)) if (each.type === 'text') late.abort({ kind: 'stopped' });
        },
        (error) => error instanceof ModelError && error.code === 'aborted',
      );
    });

    test('a key is in no error, even when the server repeats it', async () => {
      simulator.next(status(401, script.error('authentication_error', `bad ${apiKey}`)), raw([script.errorEvent('api_error', `bad ${apiKey}`)]));
      for (let i = 0; i < 2; i += 1) {
        const { error } = await failure(provider());
        assert.doesNotMatch([error.message, error.stack, JSON.stringify(error), String(error.cause)].join('\n'), new RegExp(apiKey));
      }
    });

    test('a limited key rests and the next one is used; when all rest, the error no longer promises another', async () => {
      const limited = status(429, script.error('rate_limit_error', 'slow'), { 'retry-after': '600' });
      const model = provider({ keys: ['key-number-one', 'key-number-two'] });
      simulator.next(limited, answers(script, { text: 'ok' }), answers(script, { text: 'ok' }), limited);
      const used = (): string => String(simulator.requests.at(-1)!.headers[wire === 'anthropic' ? 'x-api-key' : 'authorization']);
      assert.equal((await failure(model)).error.facts.freshKey, true);
      assert.match(used(), /one$/);
      await ask(model);
      await ask(model);
      assert.match(used(), /two$/);
      assert.equal((await failure(model)).error.facts.freshKey, undefined);
    });

    test('an endpoint that cannot stream is asked for the whole answer, and from then on only for that', async () => {
      simulator.next(
        status(400, { error: { message: 'Your organization must be verified to stream this model.', type: 'invalid_request_error', param: 'stream', code: 'unsupported_value' } }),
        json(script.whole({ text: 'whole' })),
        json(script.whole({ text: 'again' })),
      );
      const model = provider();
      const from = simulator.requests.length;
      assert.equal(said(await ask(model)), 'whole');
      assert.equal(said(await ask(model)), 'again');
      assert.deepEqual(simulator.requests.slice(from).map(({ body }) => body['stream']), [true, false, false]);
    });

    test('an image goes with the message it came with; a model that cannot see is told its name', async () => {
      const mediaFolder = await mkdtemp(join(tmpdir(), 'hermes-seen-'));
      try {
        const picture = Buffer.from('\u0089PNG of a cat', 'latin1');
        await writeFile(join(mediaFolder, 'cat.png'), picture);
        const messages: TranscriptMessage[] = [{ role: 'user', content: 'look', attachments: [{ kind: 'photo', mime: 'image/png', name: 'cat.png', path: 'cat.png' }] }];
        const base64 = picture.toString('base64');
        simulator.next(answers(script, { text: 'A cat.' }), status(400, script.error('invalid_request_error', 'This model does not support image input')), answers(script, { text: 'I see nothing.' }), answers(script, { text: 'Still not.' }));
        const model = provider({ mediaFolder });
        const from = simulator.requests.length;
        for (const name of ['seeing', 'blind', 'blind']) await ask(model, { ...question, model: name, messages });
        const bodies = simulator.requests.slice(from).map(({ body }) => JSON.stringify(body));
        assert.deepEqual(bodies.map((body) => body.includes(base64)), [true, true, false, false]);
        assert.ok(bodies.every((body) => body.includes('cat.png')));
      } finally {
        await rm(mediaFolder, { recursive: true });
      }
    });

    test('reasoning that is refused when it is sent back has an error of its own', async () => {
      const texts = ['messages.1.content.0: Invalid `signature` in `thinking` block', 'The encrypted content for item rs_1 could not be verified.'];
      for (const text of texts) {
        simulator.next(status(400, script.error('invalid_request_error', text)));
        assert.equal((await failure(provider())).error.code, 'stale_reasoning');
      }
    });

    test('who stops reading frees the connection', async () => {
      const closed = Promise.withResolvers<void>();
      simulator.next((response) => {
        response.on('close', () => closed.resolve());
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(begun.join(''));
      });
      for await (const _ of provider().stream(question, never)) break;
      await closed.promise;
    });

    test('what changes from turn to turn stands behind what does not: an older request is the beginning of a newer one', async () => {
      const row = (index: number): TranscriptMessage[] => [
        { role: 'user', content: `question ${index}` },
        { role: 'assistant', content: '', toolCalls: [{ ...call, id: `call_${index}` }] },
        { role: 'tool', content: `saw ${index}`, toolCallId: `call_${index}`, toolName: 'look' },
        { role: 'assistant', content: `answer ${index}` },
      ];
      const bodies: string[] = [];
      for (let turns = 1; turns <= 3; turns += 1) {
        const messages = [...Array.from({ length: turns }, (_, index) => row(index)).flat(), { role: 'user' as const, content: 'and now?' }];
        const request: ModelRequest = { ...question, messages, tools: [look], maxOutputTokens: 100 * turns };
        simulator.next(answers(script, { text: 'ok' }));
        await ask(provider(), request);
        // Marks for the cache move on; what they mark does not.
        bodies.push(lastBody().replaceAll(',"cache_control":{"type":"ephemeral"}', ''));
      }
      for (const [index, body] of bodies.slice(1).entries()) {
        const before = stableBytes(bodies[index]!);
        assert.ok(before.includes(`answer ${index}`) && before.includes('Looks.') && before.includes('Be kind.'));
        assert.equal(hash(body.slice(0, before.length)), hash(before), `turn ${index + 2} begins as turn ${index + 1} did`);
      }
    });
  });
}

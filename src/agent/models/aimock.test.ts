import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { LLMock } from '@copilotkit/aimock';
import type { TranscriptMessage } from '../../core/transcript.ts';
import { ask, endpoint, failure, finishOf, look, question, rowOf, said } from './conformance.test-support.ts';
import type { ModelProvider } from './contract.ts';
import type { EndpointOptions } from './endpoints/endpoint.ts';
import { scripts } from './scripted-answers.ts';
import type { Wire } from './wires/wire.ts';

/** Every wire format against a server that others wrote, with its faults. */
for (const wire of Object.keys(scripts) as Wire['name'][]) {
  describe(`aimock as ${wire}`, () => {
    const mock = new LLMock({ port: 0 });
    before(() => mock.start());
    after(() => mock.stop());
    beforeEach(() => {
      mock.clearFixtures();
      mock.clearChaos();
    });
    const provider = (options: Partial<EndpointOptions> = {}): ModelProvider => endpoint({ wire, baseUrl: `${mock.url}/v1`, keys: ['mock-key'], ...options });

    test('text, reasoning and tool calls, and the round after them', async () => {
      mock.onMessage('hello', { content: 'Hi from the mock', reasoning: 'they greet', toolCalls: [{ id: 'call_a', name: 'look', arguments: '{"x":1}' }], usage: { prompt_tokens: 11, completion_tokens: 5, input_tokens: 11, output_tokens: 5 } });
      mock.prependFixture({ match: { toolCallId: 'call_a' }, response: { content: 'I saw it' } });
      const events = await ask(provider(), { ...question, tools: [look] });
      assert.equal(said(events), 'Hi from the mock');
      assert.equal(said(events, 'reasoning'), 'they greet');
      const { reason, toolCalls, usage } = finishOf(events);
      assert.equal(reason, 'tool_calls');
      assert.deepEqual(toolCalls, [{ id: 'call_a', name: 'look', arguments: '{"x":1}' }]);
      assert.deepEqual([usage.inputTokens, usage.outputTokens], [11, 5]);
      const messages: TranscriptMessage[] = [...question.messages, rowOf(events), { role: 'tool', content: 'a cat', toolCallId: 'call_a', toolName: 'look' }];
      assert.equal(said(await ask(provider(), { ...question, messages, tools: [look] })), 'I saw it');
    });

    test('429 with Retry-After, and 500', async () => {
      mock.onMessage('hello', { error: { message: 'slow', type: 'rate_limit_error' }, status: 429, retryAfter: 3 });
      const limited = await failure(provider());
      assert.deepEqual([limited.error.code, limited.error.retryAfterMs], ['rate_limited', 3000]);
      mock.clearFixtures();
      mock.onMessage('hello', { error: { message: 'boom', type: 'server_error' }, status: 500 });
      assert.equal((await failure(provider())).error.code, 'server_error');
      mock.clearFixtures();
      mock.onMessage('hello', { error: { message: 'Overloaded', type: 'overloaded_error' }, status: 529 });
      assert.equal((await failure(provider())).error.code, 'overloaded');
    });

    test('a cut stream keeps what it brought', async () => {
      mock.onMessage('hello', { content: 'a long enough answer to be cut somewhere in the middle' }, { chunkSize: 4, latency: 2, truncateAfterChunks: 6 });
      const cut = await failure(provider());
      assert.equal(cut.error.code, 'cut_stream');
    });

    test('bad JSON, a broken connection and silence', async () => {
      mock.onMessage('hello', { content: 'never seen' });
      mock.setChaos({ malformedRate: 1 });
      assert.equal((await failure(provider())).error.code, 'malformed');
      mock.setChaos({ disconnectRate: 1 });
      assert.ok(['unreachable', 'cut_stream'].includes((await failure(provider())).error.code));
      mock.setChaos({ latencyMs: 30_000 });
      assert.equal((await failure(provider({ requestTimeoutMs: 50 }))).error.code, 'timeout');
    });
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ModelError } from '../../../core/errors.ts';
import { scripts } from '../scripted-answers.ts';
import type { Wire } from './wire.ts';
import { wires } from './wires.ts';

const names: Readonly<Record<Wire['name'], readonly string[]>> = {
  chat: ['choices', 'delta', 'message', 'content', 'tool_calls', 'function', 'name', 'arguments', 'index', 'id', 'usage', 'finish_reason', 'reasoning_details', 'extra_content'],
  responses: ['type', 'response', 'output', 'item', 'output_index', 'content', 'text', 'delta', 'status', 'call_id', 'arguments', 'summary', 'encrypted_content', 'usage', 'incomplete_details'],
  anthropic: ['type', 'message', 'index', 'content_block', 'delta', 'content', 'text', 'thinking', 'signature', 'input', 'partial_json', 'usage', 'stop_reason'],
};

const types = ['response.output_item.added', 'response.output_item.done', 'response.output_text.delta', 'response.completed', 'message_start', 'content_block_start', 'content_block_delta', 'message_delta', 'message_stop', 'text_delta', 'function_call', 'message', 'reasoning', 'tool_use', 'thinking'];

for (const wire of Object.keys(scripts) as Wire['name'][]) {
  test(`${wire}: whatever a server sends is an answer or a ModelError, and never more calls than it made`, () => {
    const key = fc.constantFrom(...names[wire]);
    const { tree } = fc.letrec((tie) => ({
      leaf: fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.constantFrom(...types)),
      tree: fc.oneof({ maxDepth: 5 }, tie('leaf'), fc.array(tie('tree'), { maxLength: 2 }), fc.dictionary(key, tie('tree'), { maxKeys: 4 })),
    }));
    fc.assert(
      fc.property(fc.array(fc.dictionary(key, tree, { maxKeys: 5 }), { maxLength: 4 }), (events) => {
        const answer = wires[wire].answer({ model: 'm', maker: 'x', failure: (error) => new ModelError('server_error', JSON.stringify(error)) });
        try {
          for (const event of events) answer.take(event);
        } catch (error) {
          assert.ok(error instanceof ModelError, String(error));
        }
        const { toolCalls } = answer.finish();
        assert.ok(toolCalls.every(({ id, name, arguments: args }) => id !== '' && typeof name === 'string' && typeof args === 'string'));
        assert.equal(new Set(toolCalls.map(({ id }) => id)).size, toolCalls.length);
      }),
      { numRuns: 500 },
    );
  });
}

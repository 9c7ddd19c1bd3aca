import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readErrorBody } from '../endpoints/refusal.ts';
import { concessionFor } from './concessions.ts';
import type { Concession } from './concessions.ts';

const all = new Set<Concession>(['stream', 'stream_options', 'encrypted_reasoning', 'effort', 'token_limit', 'images', 'cache_control', 'bare_calls', 'unsigned_calls']);

/** Bodies as the servers named send them. */
const cases: readonly { readonly who: string; readonly status?: number; readonly error: unknown; readonly concession: Concession | undefined }[] = [
  { who: 'OpenAI, an organisation that is not verified', error: { message: 'Your organization must be verified to stream this model.', param: 'stream', code: 'unsupported_value' }, concession: 'stream' },
  { who: 'a server that cannot stream', status: 501, error: { message: 'Streaming is not supported by this model' }, concession: 'stream' },
  { who: 'an old vLLM', error: { message: "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted'}]" }, concession: 'stream_options' },
  { who: 'OpenAI, a model that does not think', error: { message: 'Encrypted content is not supported with this model.', param: 'include', code: null }, concession: 'encrypted_reasoning' },
  { who: 'OpenAI, effort', error: { message: "Unsupported parameter: 'reasoning.effort' is not supported with this model.", param: 'reasoning.effort', code: 'unsupported_parameter' }, concession: 'effort' },
  { who: 'Anthropic, a budget', error: { message: '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".', type: 'invalid_request_error' }, concession: 'effort' },
  { who: 'OpenAI, the older name of the limit', error: { message: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", param: 'max_tokens', code: 'unsupported_parameter' }, concession: 'token_limit' },
  { who: 'OpenAI, a limit that is too high', error: { message: 'max_tokens is too large: 100000. This model supports at most 16384 completion tokens.', param: 'max_tokens', code: 'invalid_value' }, concession: undefined },
  { who: 'OpenRouter, a model that does not see', status: 404, error: { message: 'No endpoints found that support image input', code: 404 }, concession: 'images' },
  { who: 'DeepSeek, a model that does not see', error: { message: 'Failed to deserialize the JSON body: messages[0]: unknown variant `image_url`, expected `text`' }, concession: 'images' },
  { who: 'OpenAI, a model that does not see', error: { message: 'Invalid content type. image_url is only supported by certain models.', type: 'invalid_request_error', param: 'messages.[0].content.[1].type' }, concession: 'images' },
  { who: 'vLLM, a model that does not see', error: { message: 'At most 0 image(s) may be provided in one prompt.' }, concession: 'images' },
  { who: 'Ollama, a model that does not see', status: 500, error: { message: 'Failed to process inputs: this model is missing data required for image input' }, concession: 'images' },
  { who: 'DeepSeek, reasoning that is missing', error: { message: 'The `reasoning_content` in the thinking mode must be passed back to the API.' }, concession: 'bare_calls' },
  { who: 'Gemini, a signature that is missing', error: { message: 'Function call is missing a thought_signature in functionCall parts.' }, concession: 'unsigned_calls' },
  { who: 'Anthropic, thinking that was changed', error: { message: '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.' }, concession: undefined },
  { who: 'an overflow', error: { message: "This model's maximum context length is 4096 tokens" }, concession: undefined },
  { who: 'a limit of requests', status: 429, error: { message: 'stream_options is not supported' }, concession: undefined },
];

for (const { who, status = 400, error, concession } of cases) {
  test(`${who}: ${concession ?? 'nothing to leave out'}`, () => {
    assert.equal(concessionFor(status, readErrorBody({ error }), all), concession);
  });
}

test('what was not sent is not left out', () => {
  const body = readErrorBody({ error: { message: 'stream_options is not supported' } });
  assert.equal(concessionFor(400, body, new Set(['stream'])), undefined);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelErrorCode } from '../../../core/errors.ts';
import { networkError, refusalError } from './refusal.ts';

const plain = (text: string): string => text;

interface Case {
  readonly who: string;
  readonly status?: number;
  readonly body: unknown;
  readonly code: ModelErrorCode;
}

/** Bodies as the servers named send them. */
const cases: readonly Case[] = [
  { who: 'OpenAI, wrong key', status: 401, body: { error: { message: 'Incorrect API key provided', type: 'invalid_request_error', code: 'invalid_api_key' } }, code: 'auth' },
  { who: 'a 401 stays one whatever it says', status: 401, body: { error: { message: 'server is overloaded', code: 'server_error' } }, code: 'auth' },
  { who: 'OpenAI, no credit', status: 429, body: { error: { message: 'You exceeded your current quota', type: 'insufficient_quota', code: 'insufficient_quota' } }, code: 'billing' },
  { who: 'OpenAI, rate limit', status: 429, body: { error: { message: 'Rate limit reached', type: 'tokens', code: 'rate_limit_exceeded' } }, code: 'rate_limited' },
  { who: 'Gemini, quota per minute', status: 429, body: [{ error: { code: 429, message: 'You exceeded your current quota', status: 'RESOURCE_EXHAUSTED' } }], code: 'rate_limited' },
  { who: 'a quota that comes back', status: 429, body: { error: { message: 'You exceeded your current quota. It resets at 10:00.' } }, code: 'rate_limited' },
  { who: 'a quota that does not', status: 429, body: { error: { message: 'Insufficient balance' } }, code: 'billing' },
  { who: 'overload as a 429', status: 429, body: { error: { message: 'The engine is currently overloaded' } }, code: 'overloaded' },
  { who: 'Anthropic, overloaded', status: 529, body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, code: 'overloaded' },
  { who: 'OpenRouter, no credit', status: 402, body: { error: { message: 'Insufficient credits', code: 402 } }, code: 'billing' },
  { who: 'OpenAI, context', status: 400, body: { error: { message: 'too long', type: 'invalid_request_error', code: 'context_length_exceeded' } }, code: 'context_overflow' },
  { who: 'llama.cpp, context', status: 400, body: { error: { code: 400, message: 'the request exceeds the available context size', type: 'exceed_context_size_error' } }, code: 'context_overflow' },
  { who: 'vLLM, context', status: 400, body: { object: 'error', message: "This model's maximum context length is 4096 tokens", type: 'BadRequestError', code: 400 }, code: 'context_overflow' },
  { who: 'Groq, request larger than a minute’s tokens', status: 413, body: { error: { message: 'Request too large', code: 'rate_limit_exceeded' } }, code: 'rate_limited' },
  { who: 'nginx, body too large', status: 413, body: '', code: 'payload_too_large' },
  { who: 'OpenAI, unknown model', status: 404, body: { error: { message: 'The model `x` does not exist', code: 'model_not_found' } }, code: 'model_not_found' },
  { who: 'Ollama, unknown model', status: 404, body: { error: { message: 'model "x" not found, try pulling it first', type: 'api_error' } }, code: 'model_not_found' },
  { who: 'a 400 about the model', status: 400, body: { error: { message: 'Unknown model: x' } }, code: 'model_not_found' },
  { who: 'Gemini, wrong key', status: 400, body: [{ error: { code: 400, message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' } }], code: 'auth' },
  { who: 'Azure, filter', status: 400, body: { error: { message: 'The response was filtered', code: 'content_filter' } }, code: 'content_blocked' },
  { who: 'OpenRouter, moderation', status: 403, body: { error: { code: 403, message: 'Your chosen model requires moderation and your input was flagged for "violence"' } }, code: 'content_blocked' },
  { who: 'a plain 403', status: 403, body: 'Forbidden', code: 'auth' },
  { who: 'FastAPI, validation', status: 422, body: { detail: [{ msg: 'field required' }] }, code: 'bad_request' },
  { who: 'a validation error dressed as a 500', status: 500, body: { error: { message: '1 validation error for ChatRequest' } }, code: 'bad_request' },
  { who: 'a real 500', status: 500, body: { error: { message: 'The server had an error', type: 'server_error' } }, code: 'server_error' },
  { who: 'Cloudflare', status: 524, body: '', code: 'timeout' },
  { who: 'a gateway timeout', status: 504, body: '', code: 'timeout' },
  { who: 'an unheard-of 5xx', status: 599, body: '', code: 'server_error' },
  { who: 'an unheard-of 4xx', status: 418, body: '', code: 'bad_request' },
  { who: 'a redirect', status: 302, body: '', code: 'bad_request' },
  { who: 'OpenRouter, inside the stream', body: { error: { code: 502, message: 'Provider disconnected' } }, code: 'server_error' },
  { who: 'inside the stream, status as text', body: { error: { code: '429', message: 'slow' } }, code: 'rate_limited' },
  { who: 'inside the stream, only a text', body: { error: 'something broke' }, code: 'server_error' },
  { who: 'inside the stream, context by its words', body: { error: { message: 'prompt is too long' } }, code: 'context_overflow' },
  { who: 'Anthropic, inside the stream', body: { error: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } } }, code: 'overloaded' },
  { who: 'OpenAI Responses, inside the stream', body: { error: { type: 'error', code: 'rate_limit_exceeded', message: 'slow', param: null } }, code: 'rate_limited' },
  { who: 'Anthropic, no credit', status: 400, body: { type: 'error', error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the Anthropic API.' } }, code: 'billing' },
  { who: 'Anthropic, a signature that does not fit', status: 400, body: { type: 'error', error: { type: 'invalid_request_error', message: 'messages.3.content.0: Invalid `signature` in `thinking` block' } }, code: 'stale_reasoning' },
  { who: 'Anthropic, thinking that was changed', status: 400, body: { error: { type: 'invalid_request_error', message: '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.' } }, code: 'stale_reasoning' },
  { who: 'Anthropic, thinking that is missing', status: 400, body: { error: { type: 'invalid_request_error', message: 'Expected `thinking` or `redacted_thinking`, but found `tool_use`.' } }, code: 'stale_reasoning' },
  { who: 'OpenAI, reasoning of another account', status: 400, body: { error: { message: 'The encrypted content could not be verified.', type: 'invalid_request_error', code: 'invalid_encrypted_content' } }, code: 'stale_reasoning' },
  { who: 'a word that every object inherits', status: 400, body: { error: { code: 'constructor', message: '' } }, code: 'bad_request' },
];

for (const { who, status, body, code } of cases) {
  test(`${who}: ${code}`, () => {
    assert.equal(refusalError({ body, redact: plain, ...(status !== undefined && { status }) }).code, code);
  });
}

test('the error carries status, waiting time and request id, and the server’s words redacted and short', () => {
  const error = refusalError({
    status: 429,
    body: { error: { message: `key-123\n was ${'very '.repeat(500)} busy` } },
    retryAfterMs: 5000,
    requestId: 'req_1',
    redact: (text) => text.replaceAll('key-123', '***'),
  });
  assert.equal(error.status, 429);
  assert.equal(error.retryAfterMs, 5000);
  assert.match(error.message, /^the model answered with status 429 \(request req_1\): \*\*\* was very very/);
  assert.ok(error.message.length < 400);
});

const windows: readonly { readonly who: string; readonly body: unknown; readonly tokens: number | undefined }[] = [
  { who: 'OpenAI', body: { error: { code: 'context_length_exceeded', message: "This model's maximum context length is 128000 tokens. However, you requested 130001 tokens." } }, tokens: 128_000 },
  { who: 'Anthropic', body: { error: { message: 'prompt is too long: 208310 tokens > 200000 maximum' } }, tokens: 200_000 },
  { who: 'Anthropic, with the answer', body: { error: { message: 'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length' } }, tokens: 200_000 },
  { who: 'Gemini', body: { error: { message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).' } }, tokens: 1_048_576 },
  { who: 'llama.cpp', body: { error: { message: 'the request exceeds the available context size', type: 'exceed_context_size_error', n_prompt_tokens: 5000, n_ctx: 4096 } }, tokens: 4096 },
  { who: 'LM Studio', body: { error: 'The model is loaded with context length of only 4096 tokens, which is not enough' }, tokens: 4096 },
  { who: 'a model that does not say', body: { error: { code: 'context_length_exceeded', message: 'Your input exceeds the context window of this model.' } }, tokens: undefined },
];

for (const { who, body, tokens } of windows) {
  test(`${who} is taken at its word about what fits: ${tokens}`, () => {
    const error = refusalError({ status: 400, body, redact: plain });
    assert.deepEqual([error.code, error.facts.windowTokens, error.rule.compress], ['context_overflow', tokens, true]);
  });
}

test('network failures are told apart by their code, wherever it sits in the causes', () => {
  const failed = (code: string): Error => new Error('failed', { cause: Object.assign(new Error('x'), { code }) });
  assert.equal(networkError(failed('ECONNREFUSED'), false).code, 'unreachable');
  assert.equal(networkError(failed('ENOTFOUND'), false).code, 'unreachable');
  assert.equal(networkError(failed('ETIMEDOUT'), false).code, 'timeout');
  assert.equal(networkError(failed('HPE_INVALID_CONSTANT'), false).code, 'malformed');
  assert.equal(networkError(failed('ECONNRESET'), true).code, 'cut_stream');
  assert.equal(networkError(new Error('?'), true).code, 'cut_stream');
  assert.match(networkError(failed('ECONNREFUSED'), false).message, /ECONNREFUSED/);
});

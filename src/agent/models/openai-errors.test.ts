import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelErrorCode } from '../../core/errors.ts';
import { networkError, refusalError } from './openai-errors.ts';

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

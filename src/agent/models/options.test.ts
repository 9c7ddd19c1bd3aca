import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { newChatSimulator, says } from './chat-simulator.ts';
import { createProvider } from './create-provider.ts';
import { defaultModel, modelSection } from './options.ts';

const { schema } = modelSection;
const deps = { clock: manualClock(), log: silentLogger };

/** Where the first problem is and what it says. */
const problem = (value: unknown): string => {
  const parsed = schema.safeParse(value);
  assert.ok(!parsed.success);
  const issue = parsed.error.issues[0]!;
  return `${issue.path.join('.')}: ${issue.message}`;
};

test('with nothing configured the demo model answers', () => {
  const options = schema.parse(undefined);
  assert.equal(createProvider(options, deps).name, 'demo');
  assert.equal(defaultModel(options), 'demo');
  assert.deepEqual([options.max_retries, options.stall_timeout_ms, options.base_url], [3, 90_000, 'https://api.openai.com/v1']);
});

test('provider openai without a model says what to write', () => {
  assert.match(problem({ provider: 'openai' }), /^default: .*set model\.default/);
});

test('provider openai talks to the configured address with the configured key', async () => {
  await using simulator = await newChatSimulator();
  simulator.next(says('hi'));
  const options = schema.parse({ provider: 'openai', default: 'm-1', base_url: simulator.baseUrl, api_key: ' k-123 ' });
  const request = { model: defaultModel(options), system: '', messages: [{ role: 'user' as const, content: 'x' }], tools: [] };
  await Array.fromAsync(createProvider(options, deps).stream(request, new AbortController().signal));
  assert.equal(simulator.requests[0]?.headers.authorization, 'Bearer k-123');
  assert.equal(simulator.requests[0]?.body['model'], 'm-1');
});

test('an address with a password in it, a key with a line end and an unknown key are refused, without showing them', () => {
  assert.match(problem({ base_url: 'https://me:hunter2@example.com/v1' }), /^base_url: must be/);
  assert.match(problem({ base_url: 'ftp://example.com' }), /^base_url: must be/);
  assert.match(problem({ api_key: 'abc\ndef' }), /^api_key: contains/);
  assert.doesNotMatch(problem({ api_key: 'abc\ndef' }), /abc/);
  assert.match(problem({ modle: 'x' }), /modle/);
});

test('every setting is described; the key is a secret and has its variable', () => {
  const shape = schema.unwrap().shape;
  for (const [name, setting] of Object.entries(shape)) assert.ok(setting.meta()?.description, name);
  assert.deepEqual([shape.api_key.meta()?.secret, shape.api_key.meta()?.env], [true, 'OPENAI_API_KEY']);
  assert.equal(shape.base_url.meta()?.env, 'OPENAI_BASE_URL');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { z } from 'zod';
import { evaluate } from '../../config/evaluate.ts';
import type { ConfigInput } from '../../config/evaluate.ts';
import { manualClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { newChatSimulator, says } from './chat-simulator.ts';
import { addressOf, createProvider } from './endpoints/create-provider.ts';
import { providerNames } from './endpoints/providers.ts';
import { auxiliarySection, defaultModel, fallbackSection, modelSection } from './options.ts';

const { schema } = modelSection;
const deps = { clock: manualClock(), log: silentLogger };
const sections = [modelSection, fallbackSection, auxiliarySection] as const;

/** Where the first problem is and what it says. */
const problem = (value: unknown, of: z.ZodType = schema): string => {
  const parsed = of.safeParse(value);
  assert.ok(!parsed.success);
  const issue = parsed.error.issues[0]!;
  return `${issue.path.join('.')}: ${issue.message}`;
};

/** The settings that a file and an environment make. */
const settings = (config: string, env: ConfigInput<typeof sections>['env'] = {}) => {
  const { config: loaded } = evaluate({ env, sections, platforms: [] }, { config, env: undefined });
  assert.ok(loaded.ok, JSON.stringify(loaded));
  return loaded.sections;
};

test('with nothing configured the demo model answers', () => {
  const options = schema.parse(undefined);
  assert.equal(createProvider(options, deps).name, 'demo');
  assert.equal(defaultModel(options), 'demo');
  assert.deepEqual([options.max_retries, options.prompt_cache_ttl], [3, '5m']);
});

test('a provider without a model, and one without an address, say what to write', () => {
  assert.match(problem({ provider: 'openai' }), /^default: .*set model\.default/);
  assert.match(problem({ provider: 'anthropic' }), /`default: claude-/);
  assert.match(problem({ provider: 'custom', default: 'm' }), /^base_url: .*needs the address/);
  assert.equal(problem([{ provider: 'groq' }], fallbackSection.schema), '0.model: the name of a model is missing');
});

test('titles can be switched off and have a language; no other job knows that', () => {
  assert.deepEqual(settings('auxiliary:\n  title_generation: { enabled: false, language: Deutsch }\n').auxiliary['title_generation'], { provider: 'auto', timeout: 120, enabled: false, language: 'Deutsch' });
  assert.equal(problem({ vision: { enabled: false } }, auxiliarySection.schema), 'vision.enabled: only title_generation has this');
});

test('every provider but custom is known by its name alone', () => {
  for (const provider of providerNames) {
    if (provider === 'custom') continue;
    const { endpoints } = schema.parse({ provider, default: 'm' });
    assert.match(addressOf({ provider }, endpoints).baseUrl, /^https?:\/\/[^/]+/, provider);
    assert.equal(createProvider(schema.parse({ provider, default: 'm' }), deps).name, provider);
  }
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

test('each provider has its own variable, and no key goes to another provider', () => {
  const env = { OPENAI_API_KEY: 'openai-key', OPENAI_BASE_URL: 'https://proxy.example/v1', ANTHROPIC_API_KEY: 'anthropic-key' };
  const { model } = settings('model: { provider: anthropic, default: m }', env);
  const address = (provider: (typeof providerNames)[number], more: object = {}) => addressOf({ provider, ...more }, model.endpoints);
  assert.deepEqual(address('anthropic'), { provider: 'anthropic', baseUrl: 'https://api.anthropic.com/v1', keys: ['anthropic-key'] });
  assert.deepEqual(address('openai'), { provider: 'openai', baseUrl: 'https://proxy.example/v1', keys: ['openai-key'] });
  assert.deepEqual(address('openai-responses').keys, ['openai-key']);
  assert.deepEqual([address('groq').keys, address('custom', { base_url: 'http://127.0.0.1:9/v1' }).keys, address('ollama').keys], [[], [], []]);
  assert.deepEqual(address('openai', { api_key: 'mine', api_keys: ['more', 'mine'], base_url: 'http://127.0.0.1:9/v1' }), { provider: 'openai', baseUrl: 'http://127.0.0.1:9/v1', keys: ['mine', 'more'] });
});

test('a fallback may name the variable of its key', () => {
  const { fallback_providers: fallbacks } = settings('fallback_providers: [{ provider: groq, model: m, key_env: MY_KEY }, { provider: groq, model: n, api_key: "${MY_KEY}" }]', { MY_KEY: 'held' });
  assert.deepEqual(fallbacks.map((each) => addressOf({ ...each, provider: 'groq' }).keys), [['held'], ['held']]);
});

test('the original’s way of writing nothing is understood', () => {
  const { auxiliary } = settings('auxiliary: { vision: { provider: auto, model: "", base_url: "", api_key: "", timeout: 30 }, compression: {} }');
  assert.deepEqual(auxiliary['vision'], { provider: 'auto', model: '', base_url: '', api_key: '', timeout: 30 });
  assert.deepEqual(auxiliary['compression'], { provider: 'auto', timeout: 120 });
});

test('an address with a password in it, a key with a line end and an unknown key are refused, without showing them', () => {
  assert.match(problem({ base_url: 'https://me:hunter2@example.com/v1' }), /^base_url: must be/);
  assert.match(problem({ base_url: 'ftp://example.com' }), /^base_url: must be/);
  assert.match(problem({ api_key: 'abc\ndef' }), /^api_key: contains/);
  assert.doesNotMatch(problem({ api_key: 'abc\ndef' }), /abc/);
  assert.match(problem({ modle: 'x' }), /modle/);
});

test('every setting is described, and keys are secrets', () => {
  const shape = schema.unwrap().shape;
  for (const [name, setting] of Object.entries(shape)) assert.ok(setting.meta()?.description, name);
  assert.deepEqual([shape.api_key.meta()?.secret, shape.api_keys.meta()?.secret], [true, true]);
  const { anthropic } = shape.endpoints.unwrap().shape;
  assert.deepEqual([anthropic.unwrap().shape.api_key.meta()?.secret, anthropic.unwrap().shape.api_key.meta()?.env], [true, 'ANTHROPIC_API_KEY']);
});

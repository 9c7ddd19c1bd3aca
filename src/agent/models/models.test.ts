import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ModelError } from '../../core/errors.ts';
import { systemClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { newChatSimulator, says, status } from './chat-simulator.ts';
import type { ChatSimulator } from './chat-simulator.ts';
import { newModelLists } from './endpoints/model-lists.ts';
import { newModels } from './models.ts';
import type { Models, ModelsDeps } from './models.ts';
import { auxiliarySection, fallbackSection, modelSection } from './options.ts';
import { answers, scripts } from './scripted-answers.ts';

let simulator: ChatSimulator;
let other: ChatSimulator;
before(async () => {
  [simulator, other] = await Promise.all([newChatSimulator(), newChatSimulator()]);
});
after(() => Promise.all([simulator[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]));

const models = (settings: { model?: object; fallback_providers?: readonly object[]; auxiliary?: object } = {}, deps: Partial<ModelsDeps> = {}): Models =>
  newModels(
    {
      model: modelSection.schema.parse({ provider: 'custom', default: 'main-model', base_url: simulator.baseUrl, ...settings.model }),
      fallback_providers: fallbackSection.schema.parse(settings.fallback_providers ?? []),
      auxiliary: auxiliarySection.schema.parse(settings.auxiliary ?? {}),
    },
    { clock: systemClock, log: silentLogger, ...deps },
  );

const never = new AbortController().signal;
const ask = async ({ main }: Models, model = main.model): Promise<void> => {
  await Array.fromAsync(main.provider.stream({ model, system: '', messages: [{ role: 'user', content: 'x' }], tools: [] }, never));
};

test('the name of a model may name its endpoint', async () => {
  const all = models({ model: { endpoints: { anthropic: { api_key: 'a-key', base_url: other.baseUrl } } } });
  simulator.next(says('hi'), says('hi'));
  other.next(answers(scripts.anthropic, { text: 'hi' }));
  await ask(all);
  await ask(all, 'qwen3:8b');
  await ask(all, 'anthropic:claude-sonnet-5-5');
  assert.deepEqual(simulator.requests.map(({ body }) => body['model']), ['main-model', 'qwen3:8b']);
  const seen = other.requests.at(-1)!;
  assert.deepEqual([seen.path, seen.body['model'], seen.headers['x-api-key']], ['/v1/messages', 'claude-sonnet-5-5', 'a-key']);
});

test('a model at an endpoint that nobody has described is not found', async () => {
  await assert.rejects(ask(models({ model: { provider: 'demo' } }), 'custom:m'), (error) => error instanceof ModelError && error.code === 'model_not_found');
});

test('fallbacks are endpoints of their own', () => {
  const all = models({ fallback_providers: [{ provider: 'groq', model: 'g' }, { provider: 'demo' }] });
  assert.deepEqual(all.fallbacks.map(({ provider, model }) => [provider.name, model]), [['groq', 'g'], ['demo', 'demo']]);
});

test('a job without a model of its own is done by the main one; one with another model by that', async () => {
  const all = models({ auxiliary: { title_generation: { model: 'small' }, compression: { base_url: other.baseUrl, model: 'far', api_key: 'far-key' } } });
  simulator.next(says('vision'), says('title'));
  other.next(says('summary'));
  const job = { system: 's', prompt: 'p' };
  assert.equal((await all.completeText('vision')(job, never)).text, 'vision');
  assert.equal((await all.completeText('title_generation')(job, never)).text, 'title');
  assert.equal((await all.completeText('compression')(job, never)).text, 'summary');
  assert.deepEqual(simulator.requests.slice(-2).map(({ body }) => body['model']), ['main-model', 'small']);
  assert.deepEqual([other.requests.at(-1)?.body['model'], other.requests.at(-1)?.headers.authorization], ['far', 'Bearer far-key']);
});

test('a job whose model fails goes on to the main model and then to its fallbacks', async () => {
  const all = models({ auxiliary: { approval: { model: 'small' } }, fallback_providers: [{ provider: 'custom', model: 'last', base_url: other.baseUrl }] });
  simulator.next(status(401), status(402));
  other.next(says('from the last'));
  assert.equal((await all.completeText('approval')({ system: '', prompt: 'p' }, never)).text, 'from the last');
});

test('the endpoint of a task is found for jobs that are no texts', () => {
  const all = models({ auxiliary: { transcription: { provider: 'groq', model: 'whisper', api_key: 'k', timeout: 9 } } });
  assert.deepEqual(all.endpointFor('transcription'), { provider: 'groq', baseUrl: 'https://api.groq.com/openai/v1', keys: ['k'], model: 'whisper', timeoutMs: 9000 });
  assert.equal(all.endpointFor('vision'), undefined);
});

test('how much a model reads: learnt, configured, known, usual', () => {
  const all = models({ model: { context_length: 50_000 }, fallback_providers: [{ provider: 'groq', model: 'g', context_length: 9000 }] });
  assert.deepEqual([all.contextTokens(), all.contextTokens('g'), all.contextTokens('gpt-4o'), all.contextTokens('anthropic:unheard-of'), all.contextTokens('unheard-of')], [50_000, 9000, 128_000, 200_000, 128_000]);
  all.learnWindow('main-model', 32_000);
  assert.equal(all.contextTokens(), 32_000);
  assert.equal(models({ model: { provider: 'ollama', default: 'gpt-oss:20b' } }).contextTokens(), 16_384, 'at home it reads what it was started with');
});

test('an endpoint is asked how much its model reads when nobody knows, and failing to is no failure', async () => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-models-'));
  try {
    const listed = new Response(JSON.stringify({ data: [{ id: 'main-model', max_model_len: 40_960 }] }));
    const lists = newModelLists({ home, clock: systemClock, log: silentLogger, fetch: async () => listed });
    const all = models({}, { lists });
    await all.lookUpWindow(never);
    assert.equal(all.contextTokens(), 40_960);
    const silent = newModelLists({ home: join(home, 'other'), clock: systemClock, log: silentLogger, fetch: () => Promise.reject(new TypeError('fetch failed')) });
    const unknown = models({}, { lists: silent });
    await unknown.lookUpWindow(never);
    assert.equal(unknown.contextTokens(), 128_000);
  } finally {
    await rm(home, { recursive: true });
  }
});

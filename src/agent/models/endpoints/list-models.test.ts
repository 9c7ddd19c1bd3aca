import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { manualClock, systemClock } from '../../../lib/clock.ts';
import { capturingLogger, silentLogger } from '../../../lib/logger.ts';
import { discoverLocalServers } from './discover.ts';
import { listModels } from './list-models.ts';
import type { Fetch } from './list-models.ts';
import { newModelLists } from './model-lists.ts';

const never = new AbortController().signal;

interface ModelServer extends AsyncDisposable {
  readonly origin: string;
  readonly seen: { readonly path: string; readonly headers: IncomingHttpHeaders }[];
}

/** Answers what it has with JSON, what is undefined never, and everything else with 404. */
const newServer = async (pages: Readonly<Record<string, unknown>>): Promise<ModelServer> => {
  const seen: { path: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    seen.push({ path, headers: request.headers });
    if (!Object.hasOwn(pages, path)) response.writeHead(404).end('not here');
    else if (pages[path] !== undefined) response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(pages[path]));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

test('models are listed with what the endpoint says they read, in any of its words', async () => {
  const data = [
    { id: 'a', context_length: 1000 },
    { id: 'models/b', context_window: 2000 },
    { id: 'c', max_model_len: 3000, context_length: 9 },
    { id: 'd', meta: { n_ctx: 4000, n_ctx_train: 9 } },
    { id: 'e' },
    { id: '' },
    'nonsense',
  ];
  await using server = await newServer({ '/v1/models': { object: 'list', data } });
  const models = await listModels({ provider: 'custom', baseUrl: `${server.origin}/v1`, keys: ['k'] }, { fetch }, never);
  assert.deepEqual(models, [{ id: 'a', contextTokens: 1000 }, { id: 'b', contextTokens: 2000 }, { id: 'c', contextTokens: 3000 }, { id: 'd', contextTokens: 4000 }, { id: 'e' }]);
  assert.equal(server.seen[0]?.headers.authorization, 'Bearer k');
});

test('Anthropic is asked in its own way', async () => {
  await using server = await newServer({ '/v1/models?limit=1000': { data: [{ id: 'claude-opus-5-5', max_input_tokens: 1_000_000 }] } });
  const models = await listModels({ provider: 'anthropic', baseUrl: `${server.origin}/v1`, keys: ['k'] }, { fetch }, never);
  assert.deepEqual(models, [{ id: 'claude-opus-5-5', contextTokens: 1_000_000 }]);
  assert.deepEqual([server.seen[0]?.headers['x-api-key'], server.seen[0]?.headers['anthropic-version']], ['k', '2023-06-01']);
});

test('at home counts what is loaded, where the server tells', async () => {
  const list = { object: 'list', data: [{ id: 'q', max_context_length: 99_000 }] };
  const windowAt = async (provider: 'ollama' | 'lmstudio' | 'llamacpp', pages: Readonly<Record<string, unknown>>): Promise<number | undefined> => {
    await using server = await newServer({ '/v1/models': list, ...pages });
    return (await listModels({ provider, baseUrl: `${server.origin}/v1`, keys: [] }, { fetch }, never))[0]?.contextTokens;
  };
  assert.equal(await windowAt('ollama', { '/api/ps': { models: [{ model: 'q', context_length: 4096 }] } }), 4096);
  assert.equal(await windowAt('lmstudio', { '/api/v0/models': { data: [{ id: 'q', max_context_length: 99_000, loaded_context_length: 8192 }] } }), 8192);
  assert.equal(await windowAt('llamacpp', { '/props': { default_generation_settings: { n_ctx: 2048 } } }), 2048);
  assert.equal(await windowAt('llamacpp', {}), 99_000);
});

test('what is no list of models is refused', async () => {
  await using server = await newServer({ '/v1/models': { hello: 'world' } });
  await assert.rejects(listModels({ provider: 'custom', baseUrl: `${server.origin}/v1`, keys: [] }, { fetch }, never), /not answer with a list/);
  await assert.rejects(listModels({ provider: 'custom', baseUrl: `${server.origin}/v2`, keys: [] }, { fetch }, never), /404/);
});

/** The usual ports lead to these servers; the others refuse. */
const rerouted =
  (servers: Readonly<Record<number, ModelServer>>): Fetch =>
  (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const server = servers[Number(url.port)];
    return server === undefined ? Promise.reject(new TypeError('fetch failed')) : fetch(new URL(url.pathname + url.search, server.origin), init);
  };

test('servers at home are found on their usual ports, and what is none is not', async () => {
  await using ollama = await newServer({ '/v1/models': { object: 'list', data: null } });
  await using vllm = await newServer({ '/v1/models': { object: 'list', data: [{ id: 'q', max_model_len: 4096 }] } });
  await using website = await newServer({ '/': 'hello' });
  const found = await discoverLocalServers(rerouted({ 11434: ollama, 8000: vllm, 8080: website }), never, { timeoutMs: 60_000 });
  assert.deepEqual(found, [
    { provider: 'ollama', label: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', models: [] },
    { provider: 'vllm', label: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1', models: [{ id: 'q', contextTokens: 4096 }] },
  ]);
});

test('a port that never answers holds nobody up; an abort is an abort', async () => {
  await using silent = await newServer({ '/v1/models': undefined });
  const others = rerouted({ 8080: silent });
  // This one answers before any timer can end.
  const local: Fetch = (input, init) => (new URL(input instanceof Request ? input.url : input).port === '1234' ? Promise.resolve(Response.json({ object: 'list', data: [] })) : others(input, init));
  assert.deepEqual((await discoverLocalServers(local, never, { timeoutMs: 50 })).map(({ provider }) => provider), ['lmstudio']);
  const controller = new AbortController();
  controller.abort(new Error('enough'));
  await assert.rejects(discoverLocalServers(local, controller.signal), /enough/);
});

const withHome = async (run: (home: string) => Promise<void>): Promise<void> => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-lists-'));
  try {
    await run(home);
  } finally {
    await rm(home, { recursive: true });
  }
};

test('a list is asked for once an hour, also across a restart', () =>
  withHome(async (home) => {
    await using server = await newServer({ '/v1/models?key=secret-key-2': { data: [{ id: 'a', context_length: 5 }] } });
    const address = { provider: 'custom' as const, baseUrl: `${server.origin}/v1?key=secret-key-2`, keys: ['secret-key'] };
    const clock = manualClock();
    const lists = () => newModelLists({ home, clock, log: silentLogger, fetch });
    const before = lists();
    assert.deepEqual(await before.list(address, never), [{ id: 'a', contextTokens: 5 }]);
    await before.list(address, never);
    const restarted = lists();
    assert.deepEqual(await restarted.list(address, never), [{ id: 'a', contextTokens: 5 }]);
    assert.deepEqual(restarted.find(address.baseUrl, 'a'), { id: 'a', contextTokens: 5 });
    assert.equal(server.seen.length, 1);
    await clock.advance(3_600_000);
    await restarted.list(address, never);
    assert.equal(server.seen.length, 2);
    assert.doesNotMatch(await readFile(join(home, 'cache', 'models.json'), 'utf8'), /secret-key/);
  }));

test('an old list is better than none, and none is said', () =>
  withHome(async (home) => {
    const clock = manualClock();
    const server = await newServer({ '/v1/models': { data: [{ id: 'a' }] } });
    const address = { provider: 'custom' as const, baseUrl: `${server.origin}/v1`, keys: [] };
    const lists = newModelLists({ home, clock, log: silentLogger, fetch });
    await lists.list(address, never);
    await server[Symbol.asyncDispose]();
    await clock.advance(3_600_000);
    assert.deepEqual(await lists.list(address, never), [{ id: 'a' }]);
    await assert.rejects(lists.list({ ...address, baseUrl: 'http://127.0.0.1:1/v1' }, never));
  }));

test('a cache that cannot be read or written is done without', () =>
  withHome(async (home) => {
    await using server = await newServer({ '/v1/models': { data: [{ id: 'a' }] } });
    await writeFile(join(home, 'cache'), 'a file where the folder should be');
    const { log, lines } = capturingLogger();
    const lists = newModelLists({ home, clock: systemClock, log, fetch });
    assert.deepEqual(await lists.list({ provider: 'custom', baseUrl: `${server.origin}/v1`, keys: [] }, never), [{ id: 'a' }]);
    assert.match(lines.join(''), /models\.cache_unreadable.*models\.cache_unwritable/s);
  }));

import assert from 'node:assert/strict';
import { after } from 'node:test';
import OpenAI from 'openai';
import { apiOptions } from '../../src/http/api/options.ts';
import { httpApp } from '../../src/http/app.ts';
import { newLogins } from '../../src/http/logins.ts';
import { httpOptions } from '../../src/http/options.ts';
import { accountReport } from '../../src/http/account-report.ts';
import { startHttp } from '../../src/http/server.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { capturingLogger } from '../../src/lib/logger.ts';
import { newMetrics } from '../../src/lib/metrics.ts';
import { accountData } from '../../src/store/accounts/account-data.ts';
import { freshStatus } from '../../src/store/accounts/accounts.ts';
import type { Inside, World } from './whole.ts';
import { newWorld, startInside } from './whole.ts';

export const ownerKey = 'sk-the-key-of-the-owner';

export interface ApiGateway extends AsyncDisposable {
  readonly world: World;
  readonly inside: Inside;
  readonly url: string;
  /** The official client, as anybody would set it up. */
  client(key?: string): OpenAI;
  /** A bare request with the owner's key. */
  ask(path: string, init?: RequestInit): Promise<Response>;
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
}

/** A world whose model is asked as a server of the OpenAI kind is, once for every question. */
export const newOpenaiWorld = async (more: Readonly<Record<string, unknown>> = {}): Promise<World> => {
  const world = await newWorld();
  await world.configure({ model: { provider: 'openai', default: 'sim-1', base_url: world.model.baseUrl, api_key: 'sk-simulated-model-key', max_retries: 0 }, ...more });
  return world;
};

/** The gateway with its HTTP door and a simulated model; `api` are settings of `api_server`. */
export const startApiGateway = async (options: { readonly api?: Readonly<Record<string, unknown>>; readonly config?: Readonly<Record<string, unknown>>; readonly clock?: Clock; readonly world?: World } = {}): Promise<ApiGateway> => {
  const world = options.world ?? (await newWorld(options.config));
  const inside = await startInside(world);
  const section = httpOptions.parse({ port: 0 });
  const { store } = inside;
  const clock = options.clock ?? systemClock;
  const { log } = capturingLogger();
  const app = httpApp({
    audit: () => undefined,
    options: section,
    version: 'test',
    clock,
    log,
    logins: newLogins({ store: accountData(store, 'http'), clock, token: undefined }),
    metrics: newMetrics({ onError: () => undefined }),
    readiness: () => ({ ready: true, accounts: [accountReport(freshStatus('telegram', { state: 'connected', lastCallAtMs: 1 }))] }),
    webhook: () => undefined,
    page: new Map(),
    store,
    api: { options: apiOptions.parse({ key: ownerKey, ...options.api }), gate: () => inside.gateway.api },
  });
  const http = await startHttp({ options: section, app, patience: { closeMs: 100 } });
  const ask: ApiGateway['ask'] = (path, init = {}) => fetch(`${http.url}${path}`, { ...init, headers: { authorization: `Bearer ${ownerKey}`, ...init.headers } });
  return {
    world,
    inside,
    url: http.url,
    client: (key = ownerKey) => new OpenAI({ baseURL: `${http.url}/v1`, apiKey: key, maxRetries: 0 }),
    ask,
    post: (path, body, headers = {}) => ask(path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } }),
    async [Symbol.asyncDispose]() {
      await http.close();
      await inside[Symbol.asyncDispose]();
      if (options.world === undefined) await world[Symbol.asyncDispose]();
    },
  };
};

/** One for all tests of a file, with a world of its own; both are gone after the last of them. */
export const openApiGateway = async (config: Readonly<Record<string, unknown>> = {}): Promise<{ readonly world: World; readonly api: ApiGateway }> => {
  const world = await newOpenaiWorld(config);
  const api = await startApiGateway({ world });
  after(async () => {
    await api[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });
  return { world, api };
};

/** The frames of a streamed response, without the word at their end, which has to be there. */
export const readEvents = async (response: Response): ReturnType<typeof readFrames> => {
  const frames = await readFrames(response);
  assert.equal(frames.at(-1)?.data, '[DONE]');
  return frames.slice(0, -1);
};

/** Everything that a stream of server-sent events says, comments included. */
export const readFrames = async (response: Response): Promise<readonly { readonly event?: string; readonly data?: string; readonly id?: string; readonly comment?: string }[]> => {
  const text = await response.text();
  return text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => Object.fromEntries(frame.split('\n').map((line) => (line.startsWith(':') ? ['comment', line.slice(1).trim()] : [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]))));
};

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as ask } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { newHome, startGateway } from './gateway-process.ts';
import type { Speed } from './latency.ts';
import { echo, startModelServer } from './model-server.ts';
import { median, quantile } from './quantile.ts';

export interface ApiPlan {
  readonly connections: readonly number[];
  /** Calls of one round, by all connections together. */
  readonly calls: number;
  /** The two take turns this often, so that what else the machine does hits both. */
  readonly rounds: number;
  readonly warmUp: number;
}

export interface ApiResult {
  readonly connections: number;
  readonly streamed: boolean;
  readonly calls: number;
  readonly gateway: Speed;
  readonly proxy: Speed;
  /** Gateway against proxy, the middle of the rounds. */
  readonly ratio: Speed;
}

interface Door extends AsyncDisposable {
  readonly url: string;
}

interface Load {
  readonly connections: number;
  readonly calls: number;
  readonly streamed: boolean;
}

interface Round {
  readonly latenciesMs: readonly number[];
  readonly elapsedMs: number;
}

const key = 'sk-the-key-of-the-bench';

const startProxy = async (modelUrl: string): Promise<Door> => {
  const script = fileURLToPath(new URL('bare-proxy.ts', import.meta.url));
  const child = spawn(process.execPath, [script, modelUrl], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    url: line.toString().trim(),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
};

const startDoor = async (modelUrl: string): Promise<Door> => {
  const home = await newHome({ model: { provider: 'openai', default: 'bench', base_url: modelUrl, api_key: 'sk-bench' }, api_server: { key }, http: { port: 0 } });
  const gateway = await startGateway(home.folder);
  return {
    url: (await gateway.started()) ?? '',
    async [Symbol.asyncDispose]() {
      await gateway.end('SIGTERM');
      await home[Symbol.asyncDispose]();
    },
  };
};

let said = 0;

/** One call; resolves when its answer has come whole, and rejects when it is not the answer to this call. */
const call = (door: Door, agent: Agent, streamed: boolean): Promise<void> =>
  new Promise((resolve, reject) => {
    said += 1;
    const words = `call number ${said}.`;
    const body = JSON.stringify({ model: 'hermes', messages: [{ role: 'user', content: words }], ...(streamed && { stream: true, stream_options: { include_usage: true } }) });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = ask(`${door.url}/v1/chat/completions`, { agent, method: 'POST', headers }, (response) => {
      readText(response).then((answer) => {
        const whole = response.statusCode === 200 && answer.includes(words) && (!streamed || answer.trimEnd().endsWith('[DONE]'));
        if (whole) resolve();
        else reject(new Error(`${response.statusCode} ${answer.slice(0, 500)}`));
      }, reject);
    });
    sent.once('error', reject);
    sent.end(body);
  });

const press = async (door: Door, load: Load): Promise<Round> => {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections });
  const latenciesMs: number[] = [];
  const client = async (calls: number): Promise<void> => {
    for (let n = 0; n < calls; n += 1) {
      const sinceMs = performance.now();
      await call(door, agent, load.streamed);
      latenciesMs.push(performance.now() - sinceMs);
    }
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: load.connections }, () => client(Math.ceil(load.calls / load.connections))));
  const elapsedMs = performance.now() - startedMs;
  agent.destroy();
  return { latenciesMs, elapsedMs };
};

const speedOf = (rounds: readonly Round[]): Speed => {
  const all = rounds.flatMap(({ latenciesMs }) => latenciesMs);
  return { perSecond: median(rounds.map(({ latenciesMs, elapsedMs }) => (latenciesMs.length * 1000) / elapsedMs)), p50Ms: quantile(all, 0.5), p99Ms: quantile(all, 0.99) };
};

const compare = async (doors: { readonly gateway: Door; readonly proxy: Door }, load: Load, rounds: number): Promise<ApiResult> => {
  const pairs: { readonly gateway: Round; readonly proxy: Round }[] = [];
  for (let round = 0; round < rounds; round += 1) pairs.push({ proxy: await press(doors.proxy, load), gateway: await press(doors.gateway, load) });
  const ratio = (of: (speed: Speed) => number): number => median(pairs.map((pair) => of(speedOf([pair.gateway])) / of(speedOf([pair.proxy]))));
  return {
    connections: load.connections,
    streamed: load.streamed,
    calls: pairs.reduce((sum, pair) => sum + pair.gateway.latenciesMs.length, 0),
    gateway: speedOf(pairs.map((pair) => pair.gateway)),
    proxy: speedOf(pairs.map((pair) => pair.proxy)),
    ratio: { perSecond: ratio(({ perSecond }) => perSecond), p50Ms: ratio(({ p50Ms }) => p50Ms), p99Ms: ratio(({ p99Ms }) => p99Ms) },
  };
};

/** Calls per second and the time until an answer has come whole, of the gateway and of a proxy that only passes on, in turns, in front of the same model. */
export const measureApi = async (plan: ApiPlan): Promise<readonly ApiResult[]> => {
  await using model = await startModelServer(echo);
  await using gateway = await startDoor(model.baseUrl);
  await using proxy = await startProxy(new URL(model.baseUrl).origin);
  const loads = plan.connections.flatMap((connections) => [false, true].map((streamed): Load => ({ connections, calls: plan.calls, streamed })));
  for (const door of [proxy, gateway]) for (const load of loads) await press(door, { ...load, calls: plan.warmUp });
  const results: ApiResult[] = [];
  for (const load of loads) results.push(await compare({ gateway, proxy }, load, plan.rounds));
  return results;
};

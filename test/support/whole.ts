import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newChatSimulator, says } from '../../src/agent/models/chat-simulator.ts';
import type { Answer, ChatSimulator } from '../../src/agent/models/chat-simulator.ts';
import type { Terminal } from '../../src/cli/environment.ts';
import { gatewayConfig, requireConfig } from '../../src/cli/configuration/settings.ts';
import { OwnVariables } from '../../src/config/secrets/own-variables.ts';
import { Gateway } from '../../src/gateway/gateway.ts';
import { recordAct } from '../../src/lib/audit-log.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { capturingLogger } from '../../src/lib/logger.ts';
import { newMetrics } from '../../src/lib/metrics.ts';
import { newRedactor } from '../../src/lib/redact.ts';
import type { SimulatedMessage } from '../../src/platforms/simulator.ts';
import { platforms } from '../../src/platforms/registry.ts';
import { startTelegramSimulator } from '../../src/platforms/telegram/simulator.ts';
import type { TelegramSimulator } from '../../src/platforms/telegram/simulator.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { until } from './until.ts';

export { until };

const launcher = fileURLToPath(new URL('../../bin/hermes.js', import.meta.url));

/** The last thing a person said in a request, as the model was given it. */
export const lastUserText = (body: { readonly messages: readonly Readonly<Record<string, unknown>>[] }): string => {
  const content = body.messages.findLast((message) => message['role'] === 'user')?.['content'];
  return typeof content === 'string' ? content : JSON.stringify(content);
};

/** Answers every message with `re: ` and its text. */
export const echo: Answer = (response, request) => says(`re: ${lastUserText(request.body)}`)(response, request);

/** In one step, as editors do: whoever watches the file never sees a part of it. */
export const replaceFile = async (path: string, text: string): Promise<void> => {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
};

/** The outer world of a gateway: a Telegram, a model endpoint and a home, all on this machine. */
export interface World extends AsyncDisposable {
  readonly telegram: TelegramSimulator;
  readonly model: ChatSimulator;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** Writes config.yaml: a working one, with these keys put over it. */
  configure(changes: Readonly<Record<string, unknown>>): Promise<void>;
  /** User 7 is allowed; by default they speak in their direct chat. */
  say(text: string, more?: Partial<SimulatedMessage>): Promise<string>;
  /** What people see in a chat, oldest first. */
  shown(chatId?: string): readonly string[];
}

export const newWorld = async (changes: Readonly<Record<string, unknown>> = {}): Promise<World> => {
  const telegram = await startTelegramSimulator();
  const model = await newChatSimulator();
  model.otherwise(echo);
  const home = await mkdtemp(join(tmpdir(), 'hermes-whole-'));
  const configure: World['configure'] = async (more) => {
    const base = {
      model: { provider: 'openai', default: 'sim-1', base_url: model.baseUrl, api_key: 'sk-simulated-model-key' },
      platforms: { telegram: { ...telegram.options, allowed_users: ['7'] } },
      http: { port: 0 },
    };
    // One who does not look for titles counts the calls that are made for answers.
    const auxiliary = { title_generation: { enabled: false }, ...(more['auxiliary'] as object | undefined) };
    // What is shown only of work that takes long would be seen on a slow machine, and not on a fast one.
    const display = { streaming: false, tool_progress: 'off', ...(more['display'] as object | undefined) };
    await replaceFile(join(home, 'config.yaml'), JSON.stringify({ ...base, ...more, auxiliary, display }));
  };
  await configure(changes);
  return {
    telegram,
    model,
    home,
    env: { HERMES_HOME: home },
    configure,
    say: (text, more = {}) => telegram.say({ chatId: '7', chatType: 'dm', senderId: '7', text, ...more }),
    shown: (chatId = '7') => telegram.visible(chatId).map((message) => message.text),
    async [Symbol.asyncDispose]() {
      await telegram[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
      // What a gateway that was killed has started may write a last word.
      await rm(home, { recursive: true, force: true, maxRetries: 20 });
    },
  };
};

export interface Inside extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly store: Store;
  readonly logLines: readonly string[];
  stop(): Promise<void>;
}

/** The gateway inside this process, on the world's home, without its HTTP door. A clock of its own lets a test hurry what only waits; with `storeClock` what is stored follows it, too. */
export const startInside = async (world: World, { clock = systemClock, storeClock = systemClock }: { readonly clock?: Clock; readonly storeClock?: Clock } = {}): Promise<Inside> => {
  const terminal: Terminal = { env: world.env, version: 'test', write: () => undefined, writeError: () => undefined };
  const redactor = newRedactor();
  const config = await requireConfig(terminal, redactor);
  const { log, lines } = capturingLogger();
  const store = await openStore({ databaseUrl: config.sections.store.database_url, path: join(world.home, 'gateway.db'), clock: storeClock, log, checkIntegrity: true });
  const gateway = await Gateway.start({
    home: world.home,
    config: gatewayConfig(config),
    platforms,
    store,
    alone: true,
    clock,
    log,
    metrics: newMetrics({ onError: (error) => log.error({ err: error }, 'metrics.failed') }),
    version: 'test',
    redactor,
    outside: { openVariables: (path, known) => new OwnVariables(path, known), audit: (act) => recordAct(world.home, act, systemClock.now()) },
  });
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await gateway.stop();
    await store.close();
  };
  return {
    gateway,
    store,
    logLines: lines,
    stop: () => (stopped ??= stop()),
    async [Symbol.asyncDispose]() {
      await (stopped ??= stop());
    },
  };
};

export interface Outside extends AsyncDisposable {
  readonly child: ChildProcess;
  output(): string;
  /** kill -9 */
  kill(): Promise<void>;
  /** SIGTERM; answers the exit code, when all that it has said is there. */
  stop(): Promise<number | null>;
}

/** The gateway as people start it: a process of its own, by the launcher. Resolves when it says that it has started. */
export const startOutside = async (world: World, env: Readonly<Record<string, string>> = {}, args: readonly string[] = []): Promise<Outside> => {
  const child = spawn(process.execPath, [launcher, 'gateway', 'run', ...args], { env: { ...process.env, ...world.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const exited = once(child, 'exit');
  const closed = once(child, 'close');
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  child.stderr.on('data', (data: Buffer) => (output += data.toString()));
  const isGone = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const hasStarted = (): boolean => output.includes('"gateway.started"');
  await until(() => hasStarted() || isGone(), 'the gateway to start', 110_000);
  // What it has said last comes behind its end.
  if (!hasStarted()) await closed;
  if (!hasStarted()) throw new Error(`the gateway ended with ${child.exitCode ?? child.signalCode}:\n${output}`);
  const end = (signal: NodeJS.Signals): void => {
    if (!isGone()) child.kill(signal);
  };
  return {
    child,
    output: () => output,
    async kill() {
      end('SIGKILL');
      await exited;
    },
    async stop() {
      end('SIGTERM');
      await closed;
      return child.exitCode;
    },
    async [Symbol.asyncDispose]() {
      end('SIGKILL');
      await exited;
    },
  };
};

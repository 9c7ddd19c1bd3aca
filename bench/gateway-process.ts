import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
export const launcher = join(root, 'bin', 'hermes.js');
const keptChars = 20_000;

export interface Home extends AsyncDisposable {
  readonly folder: string;
}

/** A home of its own in a temporary folder, with this configuration. */
export const newHome = async (config: Readonly<Record<string, unknown>>): Promise<Home> => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-bench-'));
  await writeFile(join(folder, 'config.yaml'), JSON.stringify(config), { mode: 0o600 });
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
};

/** How people start it: the launcher itself, or `npm start`, which finds the launcher and its Node. */
export type StartedBy = 'launcher' | 'npm';

const commands: Readonly<Record<StartedBy, readonly [string, ...string[]]>> = {
  launcher: [process.execPath, launcher, 'gateway', 'run'],
  npm: ['npm', 'start', '--silent'],
};

export interface GatewayProcess extends AsyncDisposable {
  /** Of the process that was spawned: with `npm`, not the gateway's own. */
  readonly pid: number;
  /** The end of what it has printed. */
  output(): string;
  isRunning(): boolean;
  /** Resolves with the address of the page once the gateway says that it has started; undefined when it ended before. */
  started(): Promise<string | undefined>;
  /** Sends the signal, if any, and resolves when the process is gone. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

/** What a process of this home sees: nothing of ours is remembered in the folders of whoever measures. */
export const environment = (home: string, more: Readonly<Record<string, string>>): Record<string, string | undefined> => {
  const { HERMES_HOME: _home, DATABASE_URL: _database, ...inherited } = process.env;
  return { ...inherited, HERMES_HOME: home, XDG_STATE_HOME: join(home, 'state'), ...more };
};

/** Reads the output until the line that says where the page is. */
const watchStart = (child: ChildProcess, print: (text: string) => void): Promise<string | undefined> =>
  new Promise((resolve) => {
    let before = '';
    let known = false;
    const read = (data: Buffer): void => {
      const text = data.toString();
      print(text);
      if (known) return;
      before += text;
      const url = /"url":"([^"]+)"[^\n]*"gateway\.started"/.exec(before)?.[1];
      if (url === undefined) return;
      known = true;
      before = '';
      resolve(url);
    };
    child.stderr?.on('data', read);
    child.stdout?.on('data', read);
    child.once('exit', () => resolve(undefined));
  });

/** A gateway in a process of its own, exactly as people start it. */
export const spawnGateway = (home: string, options: { by?: StartedBy; env?: Readonly<Record<string, string>>; more?: readonly string[] } = {}): GatewayProcess => {
  const [command, ...args] = commands[options.by ?? 'launcher'];
  const child = spawn(command, [...args, ...(options.more ?? [])], { cwd: root, env: environment(home, options.env ?? {}), stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const started = watchStart(child, (text) => (output = (output + text).slice(-keptChars)));
  const exited = once(child, 'exit');
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  const end = async (signal?: NodeJS.Signals): Promise<void> => {
    if (signal !== undefined && isRunning()) child.kill(signal);
    await exited;
  };
  if (child.pid === undefined) throw new Error(`${command} could not be started`);
  return {
    pid: child.pid,
    output: () => output,
    isRunning,
    started: () => started,
    end,
    [Symbol.asyncDispose]: () => end('SIGKILL'),
  };
};

const answersReady = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(`${url}/ready`)).status === 200;
  } catch {
    // Nobody listens there yet.
    return false;
  }
};

/** Waits until `/ready` answers 200. */
export const untilReady = async (gateway: GatewayProcess, url: string, everyMs = 5): Promise<void> => {
  while (!(await answersReady(url))) {
    if (!gateway.isRunning()) throw new Error(`the gateway ended before it was ready:\n${gateway.output()}`);
    await sleep(everyMs);
  }
};

/** Starts a gateway, with these arguments, and waits until its accounts carry traffic. */
export const startGateway = async (home: string, more: readonly string[] = []): Promise<GatewayProcess> => {
  const gateway = spawnGateway(home, { more });
  const url = await gateway.started();
  if (url === undefined) throw new Error(`the gateway did not start:\n${gateway.output()}`);
  await untilReady(gateway, url);
  return gateway;
};

/** Resident memory of a process; undefined where there is no /proc. */
export const residentBytes = (pid: number): number | undefined => {
  if (process.platform !== 'linux') return undefined;
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
};

import { readFileSync, readdirSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../core/errors.ts';
import type { HttpOptions } from '../../http/options.ts';
import { isStuckFile } from './loop-watchdog.ts';
import { probeDoor } from './probe-door.ts';
import { holderOf, lookFor, outsideTrouble, sendSignal } from './process.ts';

const usualPatienceMs = 10_000;

/** Longer than the watching thread lets a stuck process live. */
const recentMs = 600_000;

interface Report {
  readonly javascriptStack: { readonly message?: string; readonly stack?: readonly string[] };
  readonly javascriptHeap: { readonly usedMemory: number };
  readonly libuv: readonly { readonly type: string; readonly is_active?: boolean }[];
}

const reportsIn = (folder: string): readonly string[] => readdirSync(folder).filter((name) => /^report\..*\.json$/.test(name));

/** A report that is still being written is no JSON yet. */
const whole = (path: string): Report | undefined => {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

export type Dump = { readonly type: 'report'; readonly path: string; readonly report: Report } | { readonly type: 'stuck'; readonly path: string; readonly stack: string };

/** Where the loop stands, as the thread that watches it has found out. */
const newestStuck = (folder: string): Dump | undefined => {
  const name = readdirSync(folder).filter(isStuckFile).toSorted().at(-1);
  const path = name === undefined ? undefined : join(folder, name);
  return path === undefined || Date.now() - statSync(path).mtimeMs > recentMs ? undefined : { type: 'stuck', path, stack: readFileSync(path, 'utf8') };
};

export interface DumpOptions {
  /** Where it listens, if that is known. */
  readonly http: Pick<HttpOptions, 'host' | 'port'> | undefined;
  readonly patienceMs?: number;
}

/** Why there is none: one that answers at its door is not stopped. */
const whyNone = async (folder: string, { http }: DumpOptions): Promise<string> => {
  const { bavail, bsize } = await statfs(folder);
  const notWritten = `could not write to ${folder}, where ${Math.floor((bavail * bsize) / 1_000_000)} MB are free`;
  const answers = http !== undefined && http.port !== 0 && (await probeDoor(http, new AbortController().signal)).by === 'gateway';
  return answers ? `It runs, but ${notWritten}.` : `It is stopped, waits for the disk, or ${notWritten}.`;
};

/** Lets the running gateway write down where it stands. One that is stuck cannot, but is watched. */
export const dumpGateway = async (home: string, options: DumpOptions): Promise<Dump> => {
  const patienceMs = options.patienceMs ?? usualPatienceMs;
  const holder = holderOf(home);
  if (holder.type === 'outside') throw outsideTrouble(home);
  if (holder.type !== 'gateway') throw new ConfigError(`No gateway runs in ${home}.`);
  if (process.platform === 'win32') throw new ConfigError('Windows has no signal for this.');
  const folder = join(home, 'logs');
  const before = new Set(reportsIn(folder));
  sendSignal(holder.pid, 'SIGUSR2');
  const found = await lookFor(() => {
    const name = reportsIn(folder).find((each) => !before.has(each));
    const path = name === undefined ? undefined : join(folder, name);
    const report = path === undefined ? undefined : whole(path);
    return path === undefined || report === undefined ? undefined : { path, report };
  }, patienceMs);
  const dump = found === undefined ? newestStuck(folder) : ({ type: 'report', ...found } as const);
  if (dump === undefined) throw new ConfigError(`Process ${holder.pid} has written no report within ${patienceMs / 1000} s. ${await whyNone(folder, options)}`, { mayPass: true });
  return dump;
};

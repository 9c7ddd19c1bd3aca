import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../core/errors.ts';
import { holderOf, lookFor } from './process.ts';

const patienceMs = 10_000;

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

/** Lets the running gateway write down where it stands, also when it is stuck. */
export const dumpGateway = async (home: string): Promise<{ readonly path: string; readonly report: Report }> => {
  const holder = holderOf(home);
  if (holder.type !== 'gateway') throw new ConfigError(`No gateway runs in ${home}.`);
  if (process.platform === 'win32') throw new ConfigError('Windows has no signal for this.');
  const folder = join(home, 'logs');
  const before = new Set(reportsIn(folder));
  process.kill(holder.pid, 'SIGUSR2');
  const found = await lookFor(() => {
    const name = reportsIn(folder).find((each) => !before.has(each));
    const path = name === undefined ? undefined : join(folder, name);
    const report = path === undefined ? undefined : whole(path);
    return path === undefined || report === undefined ? undefined : { path, report };
  }, patienceMs);
  if (found === undefined) throw new ConfigError(`Process ${holder.pid} has written no report within ${patienceMs / 1000} s.`);
  return found;
};

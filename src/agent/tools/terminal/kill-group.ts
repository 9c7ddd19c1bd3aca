import { spawn } from 'node:child_process';
import { slept } from '../../../lib/clock.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Launch } from './sandbox.ts';

/** Sends a signal to a process and all that it has started; false when nothing of it is left. */
export const signalGroup = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    process.kill(-pid, signal);
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ESRCH') return false;
    // It is there, but belongs to somebody else by now.
    if (code === 'EPERM') return true;
    throw error;
  }
};

/** How long a process has to end by itself. */
export const graceMs = 2000;
const lookEveryMs = 25;

const cleanUp = (cleanup: NonNullable<Launch['cleanup']>): Promise<void> =>
  new Promise((resolve) => {
    const [program, ...args] = cleanup;
    const child = spawn(program, args, { stdio: 'ignore' });
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });

/** Ends a process and all that it has started: first asked, then forced. */
export const endGroup = async (pid: number, options: { readonly clock: Clock; readonly cleanup?: Launch['cleanup'] }): Promise<void> => {
  const { clock, cleanup } = options;
  const untilMs = clock.now() + graceMs;
  let alive = signalGroup(pid, 'SIGTERM');
  while (alive && clock.now() < untilMs) {
    await slept(clock, lookEveryMs, new AbortController().signal);
    alive = signalGroup(pid, 0);
  }
  if (alive) signalGroup(pid, 'SIGKILL');
  if (cleanup !== undefined) await cleanUp(cleanup);
};

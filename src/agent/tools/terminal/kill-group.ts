import { spawn } from 'node:child_process';
import type { Clock } from '../../../lib/clock.ts';
import { groupsBelow } from './process-start.ts';
import type { Launch } from './sandbox.ts';

/** Sends a signal to a group of processes; false when nothing of it is left. */
const signalGroup = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  // The system reads 0 and 1 as "our own group" and "everybody".
  if (!Number.isInteger(pid) || pid <= 1) throw new RangeError(`${pid} leads no group of ours`);
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
const graceMs = 2000;
const lookEveryMs = 25;

const cleanUp = ({ argv: [program, ...args], env }: NonNullable<Launch['cleanup']>): Promise<void> =>
  new Promise((resolve) => {
    const child = spawn(program, args, { stdio: 'ignore', env });
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });

/** Ends a process and all that it has started, also what has left its group for a terminal of its own: first asked, then forced. */
export const endGroup = async (pid: number, options: { readonly clock: Clock; readonly cleanup?: Launch['cleanup'] }): Promise<void> => {
  const { clock, cleanup } = options;
  const groups = await groupsBelow(pid);
  const untilMs = clock.now() + graceMs;
  let alive = groups.filter((group) => signalGroup(group, 'SIGTERM'));
  while (alive.length > 0 && clock.now() < untilMs) {
    await clock.sleep(lookEveryMs);
    alive = alive.filter((group) => signalGroup(group, 0));
  }
  for (const group of alive) signalGroup(group, 'SIGKILL');
  if (cleanup !== undefined) await cleanUp(cleanup);
};

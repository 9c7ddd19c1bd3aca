import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { slept } from '../../../lib/clock.ts';
import type { Clock } from '../../../lib/clock.ts';
import { untilLastOutput } from '../../../lib/last-output.ts';
import { newCapture } from './capture.ts';
import type { Capture } from './capture.ts';
import { endGroup } from './kill-group.ts';
import type { Launch } from './sandbox.ts';

export interface ForegroundOptions {
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Something was written. */
  onOutput(): void;
}

export interface ForegroundResult {
  readonly output: ReturnType<Capture['result']>;
  /** As a shell names it: 124 when its time was up, 130 when it was interrupted, 128 and the number of a signal. */
  readonly exitCode: number;
  readonly end: 'exited' | 'timeout' | 'interrupted';
}

/** Far more than is shown, so that nothing is cut before secrets are out of it. */
const limits = { headBytes: 256 * 1024, tailBytes: 384 * 1024 };
type End = ForegroundResult['end'];

/** Ends the group when its time is up or somebody wants it to end; tells which, or neither. */
const watchTime = async (pid: number, launch: Launch, options: ForegroundOptions & { readonly over: AbortSignal }): Promise<End> => {
  const { clock, over } = options;
  const late = await slept(clock, options.timeoutMs, AbortSignal.any([options.signal, over]));
  if (over.aborted) return 'exited';
  await endGroup(pid, { clock, cleanup: launch.cleanup });
  return late ? 'timeout' : 'interrupted';
};

const codeFor = (end: End, exit: { readonly code: number | null; readonly by: NodeJS.Signals | null }): number => {
  if (end === 'timeout') return 124;
  if (end === 'interrupted') return 130;
  return exit.code ?? 128 + (exit.by === null ? 0 : constants.signals[exit.by]);
};

const starting = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => (child.pid === undefined ? reject(new Error('a started process has no pid')) : resolve(child.pid)));
  });

/** Runs a program as a group of its own to its end. When its time is up, or it is aborted, nothing of the group is left. Rejects when it cannot be started. */
export const runForeground = async (launch: Launch, options: ForegroundOptions): Promise<ForegroundResult> => {
  options.signal.throwIfAborted();
  const [program, ...args] = launch.argv;
  const child = spawn(program, args, { cwd: launch.cwd, env: launch.env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const capture = newCapture(limits);
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece: Buffer) => {
      capture.add(piece);
      options.onOutput();
    });
  }
  const exited = new Promise<{ code: number | null; by: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (code, by) => resolve({ code, by }));
  });
  const closed = new AbortController();
  child.once('close', () => closed.abort());
  const pid = await starting(child);
  const over = new AbortController();
  const [exit, end] = await Promise.all([exited.finally(() => over.abort()), watchTime(pid, launch, { ...options, over: over.signal })]);
  await untilLastOutput(options.clock, closed.signal);
  child.stdout.destroy();
  child.stderr.destroy();
  return { output: capture.result(), exitCode: codeFor(end, exit), end };
};

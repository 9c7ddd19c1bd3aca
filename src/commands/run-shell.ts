import { spawn } from 'node:child_process';
import { homedir } from 'node:os';
import type { Readable } from 'node:stream';
import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import { killGroup } from '../lib/kill-group.ts';

export interface ShellOptions {
  /** Everything that the process gets of an environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeLimitMs: number;
  /** Of each stream; what comes later is dropped. */
  readonly maxOutputBytes: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface ShellResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly end: 'exited' | 'time limit';
}

const collect = (stream: Readable, maxBytes: number): (() => string) => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (piece: Buffer) => {
    if (bytes < maxBytes) pieces.push(piece.subarray(0, maxBytes - bytes));
    bytes += piece.length;
  });
  return () => `${Buffer.concat(pieces).toString('utf8').toWellFormed()}${bytes > maxBytes ? '\n[… cut off]' : ''}`;
};

/** Runs a line in a shell, in the user's folder, as a group of its own that nothing survives. Rejects with the signal's reason when aborted. */
export const runShell = async (line: string, options: ShellOptions): Promise<ShellResult> => {
  options.signal.throwIfAborted();
  const child = spawn(line, { shell: true, detached: process.platform !== 'win32', cwd: homedir(), env: options.env, stdio: ['ignore', 'pipe', 'pipe'] });
  const stdout = collect(child.stdout, options.maxOutputBytes);
  const stderr = collect(child.stderr, options.maxOutputBytes);
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  // What the line has left in the background goes with it, and with that whatever keeps the streams open.
  child.once('exit', () => child.pid !== undefined && killGroup(child.pid));
  const over = new AbortController();
  const limit = slept(options.clock, options.timeLimitMs, AbortSignal.any([over.signal, options.signal])).then((late) => {
    if (child.pid !== undefined && !over.signal.aborted) killGroup(child.pid);
    return late;
  });
  try {
    const exitCode = await closed;
    over.abort();
    const late = await limit;
    options.signal.throwIfAborted();
    return { stdout: stdout(), stderr: stderr(), exitCode, end: late ? 'time limit' : 'exited' };
  } finally {
    over.abort();
    await limit;
  }
};

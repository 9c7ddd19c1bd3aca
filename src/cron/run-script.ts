import { spawn } from 'node:child_process';
import { realpath, stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { newCapture } from '../agent/tools/terminal/capture.ts';
import type { Capture } from '../agent/tools/terminal/capture.ts';
import { endGroup } from '../agent/tools/terminal/kill-group.ts';
import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import { untilLastOutput } from '../lib/last-output.ts';

export interface ScriptOptions {
  /** The agent's scripts; nothing outside of it is run. */
  readonly folder: string;
  /** Where it runs; the folder of the scripts when left out. */
  readonly workdir?: string | undefined;
  /** Everything that the script gets of an environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export type ScriptResult =
  /** `exitCode` is null when a signal ended it. */
  | { readonly end: 'exited'; readonly exitCode: number | null; readonly stdout: string; readonly stderr: string }
  | { readonly end: 'timeout' | 'interrupted'; readonly stdout: string; readonly stderr: string }
  | { readonly end: 'not_started'; readonly problem: string };

const limits = { headBytes: 48 * 1024, tailBytes: 16 * 1024 };
const interpreters: Readonly<Record<string, readonly string[]>> = {
  '.py': ['python3'],
  '.sh': ['bash'],
  '.bash': ['bash'],
  '.js': [process.execPath],
  '.mjs': [process.execPath],
  '.cjs': [process.execPath],
  '.ts': [process.execPath],
  '.mts': [process.execPath],
};

/** A script is named by its path below the folder, and by nothing that leads out of it. */
export const isScriptName = (name: string): boolean => name !== '' && !name.startsWith('/') && !/^[A-Za-z]:|[\0\\]/.test(name) && name.split('/').every((part) => part !== '' && part !== '.' && part !== '..');

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown');

/** The real file of a name; undefined unless it lies in the folder once links are followed. */
const findScript = async (folder: string, name: string): Promise<string | undefined> => {
  if (!isScriptName(name)) return undefined;
  try {
    const [root, path] = await Promise.all([realpath(folder), realpath(join(folder, name))]);
    return path.startsWith(`${root}${sep}`) && (await stat(path)).isFile() ? path : undefined;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP'].includes(codeOf(error))) return undefined;
    throw error;
  }
};

const textOf = (capture: Capture): string => {
  const { head, tail, droppedBytes } = capture.result();
  const cut = droppedBytes === 0 ? [] : [Buffer.from(`\n[… ${droppedBytes} bytes left out …]\n`)];
  return Buffer.concat([head, ...cut, tail]).toString('utf8').toWellFormed();
};

/** Runs a script of an agent as a group of its own. When its time is up, or it is aborted, nothing of the group is left. */
export const runScript = async (name: string, options: ScriptOptions): Promise<ScriptResult> => {
  const path = await findScript(options.folder, name);
  if (path === undefined) return { end: 'not_started', problem: `there is no script ${name} in ${options.folder}` };
  const [program = path, ...args] = [...(interpreters[extname(path).toLowerCase()] ?? []), path];
  const child = spawn(program, args, { cwd: options.workdir ?? options.folder, env: options.env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const captures = { stdout: newCapture(limits), stderr: newCapture(limits) };
  child.stdout.on('data', (piece: Buffer) => captures.stdout.add(piece));
  child.stderr.on('data', (piece: Buffer) => captures.stderr.add(piece));
  const closed = new AbortController();
  child.once('close', () => closed.abort());
  const exited = new Promise<{ readonly code: number | null } | { readonly error: Error }>((resolve) => {
    child.once('error', (error) => resolve({ error }));
    child.once('exit', (code) => resolve({ code }));
  });
  const over = new AbortController();
  const ended = slept(options.clock, options.timeoutMs, AbortSignal.any([options.signal, over.signal])).then(async (late) => {
    if (over.signal.aborted || child.pid === undefined) return undefined;
    await endGroup(child.pid, { clock: options.clock });
    return late ? ('timeout' as const) : ('interrupted' as const);
  });
  const exit = await exited;
  over.abort();
  const early = await ended;
  if ('error' in exit) return { end: 'not_started', problem: codeOf(exit.error) === 'ENOENT' ? `${program} is not installed` : `it cannot be started (${codeOf(exit.error)})` };
  // What it has left in the background goes with it.
  if (child.pid !== undefined) await endGroup(child.pid, { clock: options.clock });
  await untilLastOutput(options.clock, closed.signal);
  child.stdout.destroy();
  child.stderr.destroy();
  const output = { stdout: textOf(captures.stdout), stderr: textOf(captures.stderr) };
  return early === undefined ? { end: 'exited', exitCode: exit.code, ...output } : { end: early, ...output };
};

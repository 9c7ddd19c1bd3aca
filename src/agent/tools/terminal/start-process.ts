import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import type { Writable } from 'node:stream';
import type { Launch } from './sandbox.ts';

/**
 * Stays above the program to keep its exit code where a later gateway finds it. It outlives signals to the group, so that it always sees the end;
 * the program itself gets them as usual.
 */
const keeper = 'trap : TERM INT HUP; file=$1; shift; "$@"; code=$?; printf %s "$code" >"$file.tmp" && mv "$file.tmp" "$file"; exit "$code"';

export interface StartedProcess {
  readonly pid: number;
  readonly stdin: Writable;
  /** The exit code, as a shell would name it. */
  readonly ended: Promise<number>;
}

const codeOf = (code: number | null, signal: NodeJS.Signals | null): number => code ?? 128 + (signal === null ? 0 : constants.signals[signal]);

const spawned = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });

/** Starts a program that writes into a file by itself and does not end with this process. Rejects when it cannot be started. */
export const startProcess = async (launch: Launch, files: { readonly output: string; readonly exit: string }): Promise<StartedProcess> => {
  const log = await open(files.output, 'a', 0o600);
  try {
    const child = spawn('/bin/sh', ['-c', keeper, 'hermes', files.exit, ...launch.argv], { cwd: launch.cwd, env: launch.env, detached: true, stdio: ['pipe', log.fd, log.fd] });
    const ended = new Promise<number>((resolve) => {
      child.once('exit', (code, signal) => resolve(codeOf(code, signal)));
    });
    await spawned(child);
    child.unref();
    const { pid, stdin } = child;
    if (pid === undefined || stdin === null) throw new Error('a started process has no pid');
    return { pid, stdin, ended };
  } finally {
    await log.close();
  }
};

/** What the keeper has written; undefined when it was killed too, or is not there yet. */
export const readExitCode = async (path: string): Promise<number | undefined> => {
  try {
    const code = Number(await readFile(path, 'utf8'));
    return Number.isInteger(code) ? code : undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
};

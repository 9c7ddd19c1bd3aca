import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { slept } from '../lib/clock.ts';
import { killGroup } from '../lib/kill-group.ts';
import { untilLastOutput } from '../lib/last-output.ts';
import { boundedLines } from './bounded-lines.ts';
import { errorCode } from './error-code.ts';
import { HookError } from './hook-error.ts';
import { mostAnswerBytes } from './runner.ts';
import type { CallLimit } from './within-limit.ts';

export interface Program {
  readonly command: readonly [string, ...string[]];
  readonly folder: string;
  /** Everything that it gets of an environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What it is given on its standard input. */
  readonly input: string;
  /** Told every line that it prints for people, up to a limit. */
  onLine(line: string): void;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

const mostPrintedBytes = 1024 * 1024;
/** Ends it and all that it has started. */
const endAll = ({ pid }: Child): void => {
  if (pid !== undefined) killGroup(pid);
};

interface Output {
  answer(): string;
  /** Undefined unless it has printed more than it may. */
  excess(): string | undefined;
}

/** Keeps what may be the answer. Whoever prints without end is ended. */
const listen = (child: Child, lines: ReturnType<typeof boundedLines>): Output => {
  const pieces: Buffer[] = [];
  let answered = 0;
  let printed = 0;
  const check = (): void => {
    if (answered > mostAnswerBytes || printed > mostPrintedBytes) endAll(child);
  };
  child.stdout.on('data', (piece: Buffer) => {
    answered += piece.length;
    if (answered <= mostAnswerBytes) pieces.push(piece);
    check();
  });
  child.stderr.on('data', (piece: Buffer) => {
    printed += piece.length;
    if (printed <= mostPrintedBytes) lines.add(piece);
    check();
  });
  return {
    answer: () => Buffer.concat(pieces).toString('utf8'),
    excess: () => (answered > mostAnswerBytes ? `it answered with more than ${mostAnswerBytes / 1024} KB` : printed > mostPrintedBytes ? 'it printed more than 1 MB' : undefined),
  };
};

type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null } | { readonly error: Error };

const exitOf = (child: Child): Promise<Exit> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve({ error }));
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });

const give = (child: Child, input: string): void => {
  // It need not read what it is given, and may be gone before.
  child.stdin.on('error', () => child.stdin.destroy());
  child.stdin.end(input);
};

/** Runs a program as a group of its own; answers what it wrote to its standard output. Nothing of the group is left when this settles. */
export const runProgram = async (program: Program, { clock, timeoutMs, signal }: CallLimit): Promise<string> => {
  const [name, ...args] = program.command;
  const child: Child = spawn(name, args, { cwd: program.folder, env: program.env, detached: process.platform !== 'win32', stdio: ['pipe', 'pipe', 'pipe'] });
  const lines = boundedLines(clock, (line) => program.onLine(line));
  const output = listen(child, lines);
  const closed = new AbortController();
  child.once('close', () => closed.abort());
  give(child, program.input);
  const over = new AbortController();
  const ended = slept(clock, timeoutMs, AbortSignal.any([signal, over.signal])).then((late) => {
    if (over.signal.aborted) return undefined;
    endAll(child);
    return late ? ('timeout' as const) : ('aborted' as const);
  });
  const exit = await exitOf(child);
  over.abort();
  const early = await ended;
  if ('error' in exit) throw new HookError('not_started', errorCode(exit.error) === 'ENOENT' ? `${name} is not installed, or its first line names a program that is not` : `it cannot be run (${errorCode(exit.error)})`, { cause: exit.error });
  endAll(child);
  await untilLastOutput(clock, closed.signal);
  for (const stream of [child.stdout, child.stderr]) stream.destroy();
  lines.end();
  if (early !== undefined) throw new HookError(early, early === 'timeout' ? `no answer within ${timeoutMs / 1000} s` : 'the gateway is ending');
  const excess = output.excess();
  if (excess !== undefined) throw new HookError('bad_answer', excess);
  if (exit.code !== 0) throw new HookError('failed', exit.code === null ? `it was ended by ${exit.signal ?? 'a signal'}` : `it left with exit code ${exit.code}`);
  return output.answer();
};

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from './find-program.ts';

const run = promisify(execFile);

/** The text as one word for a shell. */
export const quoteWord = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Runs a program at a terminal of its own, by `script`. */
export type WithTerminal = (program: readonly [string, ...string[]]) => readonly [string, ...string[]];

/** Undefined where there is no `script` of util-linux; others have other options. */
export const findTerminal = async (path: string): Promise<WithTerminal | undefined> => {
  const script = await findProgram('script', path);
  if (script === undefined) return undefined;
  const { stdout } = await run(script, ['--version'], { timeout: 5000 }).catch(() => ({ stdout: '' }));
  if (!stdout.includes('util-linux')) return undefined;
  return (program) => [script, '--quiet', '--return', '--flush', '--command', `exec ${program.map(quoteWord).join(' ')}`, '/dev/null'];
};

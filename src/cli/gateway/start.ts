import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '../../core/errors.ts';
import { readableLine } from '../process/console-line.ts';
import { Exit } from '../environment.ts';
import type { Terminal } from '../environment.ts';
import { refuseRoot } from '../home/root-in-home.ts';
import { homeHolder } from '../../store/locks/lock-holder.ts';
import { holderOf, isHeldBy, lookFor, outsideTrouble, startingText, writtenPid } from './process.ts';
import type { HomeHolder } from './process.ts';
import { unsupervised } from './restart-process.ts';
import { notedStart } from './start-note.ts';
import { announceStart } from './succession.ts';
import { toldMigration } from './told-migration.ts';

/** The launcher, also when the program was installed as a package. */
export const launcher: string = fileURLToPath(new URL('../../../bin/hermes.js', import.meta.url));

const patienceMs = 60_000;
const shownChars = 4000;

/** What a detached gateway prints until it has started, and what it says if it breaks. */
export const consoleFile = (home: string): string => join(home, 'logs', 'console.log');

interface Console {
  /** Where the new gateway writes. */
  readonly output: number;
  /** Answers what it has written until now. */
  close(): string;
}

/** A file of its own for what a new gateway prints: another that starts at the same time, or is being replaced, writes to another one. */
const newConsole = (home: string): Console => {
  const unnamed = `${consoleFile(home)}.${process.pid}`;
  rmSync(unnamed, { force: true });
  // Added to, so that it can be emptied while it is written.
  const output = openSync(unnamed, 'a', 0o600);
  const input = openSync(unnamed, 'r');
  renameSync(unnamed, consoleFile(home));
  return {
    output,
    close() {
      const text = readFileSync(input, 'utf8');
      closeSync(output);
      closeSync(input);
      return text;
    },
  };
};

/** What it logged as a person reads it, between what it said. */
const readable = (text: string, terminal: Terminal): string =>
  text
    .split('\n')
    .flatMap((line) => (/^\{"level":.*\}$/.test(line) ? [readableLine(line, terminal)?.trimEnd()] : [line]))
    .filter((line) => line !== undefined)
    .join('\n');

export interface StartWish {
  readonly replace?: boolean;
  /** Also in the home of somebody else. */
  readonly asRoot?: boolean;
}

export interface Started {
  readonly pid: number;
  /** False for one that ran already. */
  readonly isNew: boolean;
}

/** Who has a home, once whoever is starting there does so no longer. */
export const settledHolder = async (home: string): Promise<HomeHolder> => {
  const settled = await lookFor<HomeHolder>(() => {
    const note = notedStart(home);
    if (note !== undefined && isHeldBy(home, note.pid)) return undefined;
    const holder = holderOf(home);
    return startingText(holder) === undefined ? holder : undefined;
  }, patienceMs);
  if (settled !== undefined) return settled;
  const holder = holderOf(home);
  const starting = startingText(holder);
  if (starting === undefined) return holder;
  throw new ConfigError(`The gateway of ${home} is still ${starting}. hermes status shows when it runs, hermes logs what went before.`, { mayPass: true });
};

/** Starts a gateway that outlives this terminal, and waits until it has started; leaves one that runs or is starting alone unless it is to be replaced. Throws with what it said when it has not started. */
export const startDetached = async (terminal: Terminal, home: string, options: StartWish = {}): Promise<Started> => {
  const holder = options.replace === true ? holderOf(home) : await settledHolder(home);
  if (holder.type === 'gateway' && options.replace !== true) return { pid: holder.pid, isNew: false };
  if (holder.type === 'terminal') throw new ConfigError(`An open terminal chat hosts the gateway of ${home}. Leave it first.`, { mayPass: true });
  if (holder.type === 'outside') throw outsideTrouble(home);
  if (options.asRoot !== true) refuseRoot(terminal.env, home, { command: 'hermes gateway start', flag: '--as-root' });
  mkdirSync(join(home, 'logs'), { recursive: true, mode: 0o700 });
  // One that takes over announces itself.
  const announced = options.replace === true ? undefined : announceStart(home);
  const said = newConsole(home);
  const child = spawn(process.execPath, [launcher, 'gateway', 'run', '--background', ...(options.replace === true ? ['--replace'] : []), ...(options.asRoot === true ? ['--as-root'] : [])], { detached: true, stdio: ['ignore', said.output, said.output], env: { ...unsupervised(terminal.env), HERMES_HOME: home } });
  const ended: { code?: number } = {};
  child.once('exit', (code) => (ended.code = code ?? 1));
  child.once('error', () => (ended.code = 1));
  const started = await lookFor(() => {
    if (ended.code !== undefined) return { ok: false as const, code: ended.code };
    if (homeHolder(home) === child.pid || notedStart(home)?.pid === child.pid) announced?.release();
    if (writtenPid(home)?.pid !== child.pid) return undefined;
    const now = holderOf(home);
    return now.type === 'gateway' && now.pid === child.pid && now.doing === undefined ? { ok: true as const, pid: now.pid } : undefined;
  }, patienceMs);
  announced?.release();
  child.unref();
  const text = said.close();
  if (started?.ok === true) {
    terminal.write(toldMigration(text));
    return { pid: started.pid, isNew: true };
  }
  const winner = started?.ok === false && options.replace !== true ? await settledHolder(home) : undefined;
  if (winner?.type === 'gateway') return { pid: winner.pid, isNew: false };
  terminal.writeError(`${readable(text.slice(-shownChars).trim(), terminal)}\n`);
  terminal.writeError(started === undefined ? `The gateway has not started within ${patienceMs / 1000} s; it goes on trying as process ${child.pid ?? '?'}. See ${consoleFile(home)}.\n` : 'The gateway did not start.\n');
  // One that was told to end meanwhile has left in order, and yet does not run.
  throw new Exit(started?.code || 1);
};

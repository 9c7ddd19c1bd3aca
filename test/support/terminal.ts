import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from './whole.ts';
import type { World } from './whole.ts';

const launcher = fileURLToPath(new URL('../../bin/hermes.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Piped extends AsyncDisposable {
  /** What it has printed so far. */
  out(): string;
  type(line: string): void;
  /** Closes its input. */
  end(): void;
  readonly ended: Promise<Ended>;
}

/** `hermes` with pipes where a terminal would be. */
export const openPiped = (world: World, args: readonly string[]): Piped => {
  const child = spawn(process.execPath, [launcher, ...args], { env: { ...process.env, ...world.env }, stdio: ['pipe', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const ended = once(child, 'close').then(([code]: unknown[]): Ended => ({ code: code as number | null, out, err }));
  return {
    out: () => out,
    type: (line) => void child.stdin.write(`${line}\n`),
    end: () => void child.stdin.end(),
    ended,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
};

/** Runs `hermes` to its end, with a text piped in or with nothing at all. */
export const hermes = async (world: World, args: readonly string[], input = ''): Promise<Ended> => {
  await using piped = openPiped(world, args);
  if (input !== '') piped.type(input);
  piped.end();
  return await piped.ended;
};

let screens = 0;

/** A server of tmux for one screen, so that ending it touches no other. */
const newTmux = (world: World): ((...args: readonly string[]) => string) => {
  const socket = join(world.home, `tmux-${(screens += 1)}.sock`);
  return (...args) => execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
};

const findTmux = (): boolean => {
  try {
    execFileSync('tmux', ['-V'], { stdio: 'ignore' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
};

/** Why tests on a real screen cannot run here, if so. */
export const noScreenReason = findTmux() ? undefined : 'tmux is not installed, and without it there is no screen to look at';

export interface TestScreen extends Disposable {
  /** What is visible, without the ends of lines. */
  rows(): readonly string[];
  /** Also what has scrolled away. */
  everything(): string;
  /** Keys as tmux names them; text is typed as it is. */
  press(...keys: readonly string[]): void;
  paste(text: string): void;
  resize(columns: number, rows: number): void;
  sees(text: string | RegExp, timeoutMs?: number): Promise<void>;
}

const sees = (text: string, what: string | RegExp): boolean => (typeof what === 'string' ? text.includes(what) : what.test(text));

/** `hermes` on the screen of a real terminal. */
export const openScreen = (world: World, options: { readonly args?: readonly string[]; readonly columns?: number; readonly rows?: number; readonly env?: Readonly<Record<string, string>> } = {}): TestScreen => {
  const { args = [], columns = 60, rows = 20, env = {} } = options;
  // Not by tmux itself, which has an own opinion about TERM.
  const variables = Object.entries({ ...world.env, ...env }).map(([name, value]) => `${name}=${value}`);
  const quoted = ['env', ...variables, process.execPath, launcher, ...args].map((word) => `'${word}'`).join(' ');
  const tmux = newTmux(world);
  tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), `${quoted}; echo "left with $?"; exec sleep 600`);
  const capture = (...more: readonly string[]): string => tmux('capture-pane', '-p', ...more);
  return {
    rows: () => capture().split('\n'),
    everything: () => capture('-S', '-1000'),
    press: (...keys) => void tmux('send-keys', ...keys),
    paste(text) {
      tmux('set-buffer', text);
      tmux('paste-buffer', '-p');
    },
    resize: (width, height) => void tmux('resize-window', '-x', String(width), '-y', String(height)),
    async sees(text, timeoutMs = 60_000) {
      try {
        await until(() => sees(capture('-S', '-1000'), text), String(text), timeoutMs);
      } catch (error) {
        throw new Error(`${(error as Error).message}; the screen:\n${capture()}`, { cause: error });
      }
    },
    [Symbol.dispose]: () => void tmux('kill-server'),
  };
};

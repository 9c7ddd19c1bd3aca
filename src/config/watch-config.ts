import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { systemClock } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import type { ValidConfig } from './evaluate.ts';
import { configFiles, loadConfig } from './load-config.ts';
import type { LoadOptions } from './load-config.ts';
import type { Problem } from './problem.ts';
import { newSecretCommands } from './secret-commands.ts';
import type { SecretCommands } from './secret-commands.ts';
import type { Reload, Section } from './section.ts';

export interface ConfigChange<Sections extends readonly Section[]> {
  readonly config: ValidConfig<Sections>;
  /** Sections that differ from the last configuration. */
  readonly sections: readonly { readonly name: string; readonly reload: Reload }[];
  /** Sections that differ from those the process started with and that it cannot take over. */
  readonly awaitingRestart: readonly string[];
  readonly accounts: { readonly added: readonly string[]; readonly removed: readonly string[]; readonly changed: readonly string[] };
  /** What commands have answered for it, for whoever reads the same files once more. */
  readonly commands: SecretCommands;
}

export interface WatchOptions<Sections extends readonly Section[]> extends LoadOptions<Sections> {
  /** The configuration the process works with. */
  readonly current: ValidConfig<Sections>;
  /** A valid configuration that differs; the next one waits until it is done. */
  onChange(change: ConfigChange<Sections>): void | Promise<void>;
  /** What is wrong with the files now. The working configuration stays. */
  onProblem(problems: readonly Problem[]): void;
  /** Nothing is wrong with them any more. */
  onMended?(): void;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

export interface ConfigWatch {
  /** Resolves when the signal aborts; rejects when watching is no longer possible or a callback fails. */
  readonly closed: Promise<void>;
}

/** An editor writes a file in several steps; this long after the last one it is read. */
const settleMs = 100;

/** Watches the folders of the two files and of those that hold secrets, since editors replace files instead of writing into them. Resolves once it is watching. */
export const watchConfig = async <const Sections extends readonly Section[]>(options: WatchOptions<Sections>): Promise<ConfigWatch> => {
  const { home } = options;
  const bell = newBell(options.signal);
  const folders = newFolders(bell);
  try {
    for (const path of Object.values(configFiles(home))) await folders.cover(path);
  } catch (error) {
    folders.close();
    throw error;
  }
  const stamp = await stampOf(home);
  const run = async (): Promise<void> => {
    try {
      await follow(options, { bell, folders, stamp });
    } catch (error) {
      if (!options.signal.aborted) throw error;
    } finally {
      folders.close();
    }
  };
  return { closed: run() };
};

interface Folders {
  /** Watches a file where it is named and where it is; answers whether it was not watched before. A folder that does not exist makes it reject. */
  cover(path: string): Promise<boolean>;
  close(): void;
}

const newFolders = (bell: Bell): Folders => {
  const watched = new Map<string, { readonly names: Set<string>; readonly watcher: FSWatcher }>();
  const add = (path: string): boolean => {
    const known = watched.get(dirname(path));
    const isNew = known?.names.has(basename(path)) !== true;
    if (known !== undefined) {
      known.names.add(basename(path));
      return isNew;
    }
    const names = new Set([basename(path)]);
    const watcher = watch(dirname(path), (_event, name) => {
      // A mounted volume swaps a link called `..data` instead of the file.
      if (name === null || names.has(name) || name.startsWith('..')) bell.ring();
    });
    watcher.on('error', (error) => bell.fail(error));
    watched.set(dirname(path), { names, watcher });
    return true;
  };
  return {
    async cover(path) {
      const target = await realpath(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return path;
        throw error;
      });
      return [add(path), add(target)].includes(true);
    },
    close() {
      for (const { watcher } of watched.values()) watcher.close();
    },
  };
};

/** Whether one of them was not watched before. What cannot be watched cannot be read either, which is said where it is read. */
const coverSecrets = async (folders: Folders, paths: readonly string[]): Promise<boolean> => {
  const cover = (path: string): Promise<boolean> =>
    folders.cover(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'EACCES' || error.code === 'ENOTDIR') return false;
      throw error;
    });
  return (await Promise.all(paths.map(cover))).includes(true);
};

interface Bell {
  ring(): void;
  fail(error: Error): void;
  /** Whether it has rung since the last wait. */
  hasRung(): boolean;
  /** Resolves at the first ring since the last wait, at once if it has rung already. */
  wait(): Promise<void>;
}

const newBell = (signal: AbortSignal): Bell => {
  let rung = false;
  let failure: Error | undefined;
  let wake = (): void => undefined;
  const isDone = (): boolean => rung || failure !== undefined || signal.aborted;
  signal.addEventListener('abort', () => wake(), { once: true });
  return {
    hasRung: () => rung,
    ring() {
      rung = true;
      wake();
    },
    fail(error) {
      failure = error;
      wake();
    },
    async wait() {
      if (!isDone()) await new Promise<void>((resolve) => (wake = resolve));
      signal.throwIfAborted();
      if (failure !== undefined) throw failure;
      rung = false;
    },
  };
};

const follow = async <const Sections extends readonly Section[]>(options: WatchOptions<Sections>, watched: { readonly bell: Bell; readonly folders: Folders; readonly stamp: string }): Promise<void> => {
  const { bell, folders } = watched;
  const clock = options.clock ?? systemClock;
  const started = options.current;
  let current = options.current;
  let complaints: readonly Problem[] = [];
  let commands = options.commands ?? newSecretCommands();
  let { stamp } = watched;
  // The files may have changed between their first reading and the start of the watch.
  bell.ring();
  for (;;) {
    do {
      await bell.wait();
      await clock.sleep(settleMs, options.signal);
    } while (bell.hasRung());
    const before = stamp;
    stamp = await stampOf(options.home);
    // What a command has said counts until somebody writes one of the two files: a secret that has been rotated is read again then.
    if (stamp !== before) commands = newSecretCommands();
    const loaded = await loadConfig({ ...options, commands });
    // A secret may have changed between its reading and the start of its watch.
    if (await coverSecrets(folders, loaded.secretFiles)) bell.ring();
    const problems = loaded.ok ? losses(current, loaded) : loaded.problems;
    if (problems.length > 0 && !isDeepStrictEqual(problems, complaints)) options.onProblem(problems);
    if (problems.length === 0 && complaints.length > 0) options.onMended?.();
    complaints = problems;
    if (!loaded.ok || problems.length > 0) continue;
    const change = compare(options.sections, { started, before: current, after: loaded });
    current = loaded;
    if (change !== undefined) await options.onChange({ ...change, commands });
  }
};

/** Changes whenever somebody writes one of the two files, be it the same text. */
const stampOf = async (home: string): Promise<string> => {
  const facts = await Promise.all(
    Object.values(configFiles(home)).map((path) =>
      stat(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code === undefined) throw error;
        return undefined;
      }),
    ),
  );
  return JSON.stringify(facts.map((file) => [file?.ino, file?.size, file?.mtimeMs]));
};

/**
 * What a valid configuration would take away by mistake: accounts that worked and would not any more, and a whole file
 * that is gone or empty, as it is for a moment while some editors write. Accounts that never worked do not count.
 */
const losses = (before: ValidConfig<readonly Section[]>, after: ValidConfig<readonly Section[]>): readonly Problem[] => {
  const gone = before.files.filter((name) => !after.files.includes(name));
  if (gone.length > 0) return gone.map((file) => ({ code: 'unreadable', file, path: '', message: 'is gone or empty; the configuration in force stays until it is back or the gateway restarts' }));
  return after.disabled.filter(({ account }) => before.accounts.some((working) => working.account === account)).flatMap(({ problems }) => problems);
};

const compare = <const Sections extends readonly Section[]>(
  sections: Sections,
  configs: { readonly started: ValidConfig<Sections>; readonly before: ValidConfig<Sections>; readonly after: ValidConfig<Sections> },
): Omit<ConfigChange<Sections>, 'commands'> | undefined => {
  const { started, before, after } = configs;
  const differs = (name: string, other: ValidConfig<Sections>): boolean => !isDeepStrictEqual(valueOf(after, name), valueOf(other, name));
  const changed = sections.filter(({ name }) => differs(name, before)).map(({ name, reload }) => ({ name, reload }));
  const old = new Map(before.accounts.map((account) => [account.account, account]));
  const now = new Map(after.accounts.map((account) => [account.account, account]));
  const accounts = {
    added: [...now.keys()].filter((name) => !old.has(name)),
    removed: [...old.keys()].filter((name) => !now.has(name)),
    changed: [...now.keys()].filter((name) => old.has(name) && !isDeepStrictEqual(old.get(name), now.get(name))),
  };
  if (changed.length === 0 && Object.values(accounts).every((names) => names.length === 0)) return undefined;
  const awaitingRestart = sections.filter(({ name, reload }) => reload === 'restart' && differs(name, started)).map(({ name }) => name);
  return { config: after, sections: changed, awaitingRestart, accounts };
};

const valueOf = (config: ValidConfig<readonly Section[]>, name: string): unknown => (config.sections as Readonly<Record<string, unknown>>)[name];

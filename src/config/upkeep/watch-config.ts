import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { backoffMs } from '../../lib/backoff.ts';
import { slept, systemClock } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ValidConfig } from '../evaluate.ts';
import { configFiles, loadConfig } from '../load-config.ts';
import type { LoadOptions } from '../load-config.ts';
import type { Problem } from '../problem.ts';
import { newSecretCommands } from '../secrets/secret-commands.ts';
import type { SecretCommands } from '../secrets/secret-commands.ts';
import type { Reload, Section } from '../section.ts';

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
  /** A valid configuration that differs; the next one waits until it is done. Answers whether it was taken over: if not, it is told again after a while. */
  onChange(change: ConfigChange<Sections>): boolean | Promise<boolean>;
  /** What is wrong with the files now. The working configuration stays. */
  onProblem(problems: readonly Problem[]): void;
  /** Nothing is wrong with them any more. */
  onMended?(): void;
  /** Files cannot be watched at the moment; until they can they are read again every half minute. */
  onUnwatched(error: unknown): void;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

export interface ConfigWatch {
  /** Resolves when the signal aborts; rejects when a callback fails. */
  readonly closed: Promise<void>;
}

/** An editor writes a file in several steps; this long after the last one it is read. */
const settleMs = 100;
const watchAgainMs = 30_000;
const refusedWaits = { baseMs: 5_000, capMs: 300_000 };

/** Watches the folders of the two files and of those that hold secrets, since editors replace files instead of writing into them. Resolves once it is watching. */
export const watchConfig = async <const Sections extends readonly Section[]>(options: WatchOptions<Sections>): Promise<ConfigWatch> => {
  const { home } = options;
  const bell = newBell(options.signal, options.clock ?? systemClock);
  const folders = newFolders(bell, (error) => options.onUnwatched(error));
  await folders.cover(Object.values(configFiles(home)));
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
  /** Watches files where they are named and where they are; answers whether one of them was not watched before. `optional`: those that are not there, or are closed to us, are not missed. */
  cover(paths: readonly string[], options?: { readonly optional: boolean }): Promise<boolean>;
  close(): void;
}

const newFolders = (bell: Bell, onUnwatched: (error: unknown) => void): Folders => {
  let isSaid = false;
  const lost = (error: unknown): void => {
    if (!isSaid) onUnwatched(error);
    isSaid = true;
    bell.ringIn(watchAgainMs);
  };
  const watched = new Map<string, { readonly names: Set<string>; readonly watcher: FSWatcher }>();
  const add = (path: string): boolean => {
    const folder = dirname(path);
    const known = watched.get(folder);
    const isNew = known?.names.has(basename(path)) !== true;
    if (known !== undefined) {
      known.names.add(basename(path));
      return isNew;
    }
    const names = new Set([basename(path)]);
    const watcher = watch(folder, (_event, name) => {
      // A mounted volume swaps a link called `..data` instead of the file.
      if (name === null || names.has(name) || name.startsWith('..')) bell.ring();
    });
    watcher.on('error', (error) => {
      watcher.close();
      watched.delete(folder);
      lost(error);
    });
    watched.set(folder, { names, watcher });
    return true;
  };
  const cover = async (path: string): Promise<boolean> => {
    const target = await realpath(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return path;
      throw error;
    });
    return [add(path), add(target)].includes(true);
  };
  return {
    async cover(paths, options) {
      const isMissed = ({ code }: NodeJS.ErrnoException): boolean => options?.optional !== true || (code !== 'ENOENT' && code !== 'EACCES' && code !== 'ENOTDIR');
      const covered = await Promise.allSettled(paths.map(cover));
      const missed = covered.flatMap((each) => (each.status === 'rejected' && isMissed(each.reason as NodeJS.ErrnoException) ? [each.reason as unknown] : []));
      if (missed.length > 0) lost(missed[0]);
      else if (options?.optional !== true) isSaid = false;
      return covered.some((each) => each.status === 'fulfilled' && each.value);
    },
    close() {
      for (const { watcher } of watched.values()) watcher.close();
    },
  };
};

interface Bell {
  ring(): void;
  /** Rings by itself after a while; the last to want that counts. */
  ringIn(ms: number): void;
  /** Whether it has rung since the last wait. */
  hasRung(): boolean;
  /** Resolves at the first ring since the last wait, at once if it has rung already. */
  wait(): Promise<void>;
}

const newBell = (signal: AbortSignal, clock: Clock): Bell => {
  let rung = false;
  let alarm = new AbortController();
  let wake = (): void => undefined;
  const ring = (): void => {
    rung = true;
    wake();
  };
  signal.addEventListener('abort', () => wake(), { once: true });
  return {
    hasRung: () => rung,
    ring,
    ringIn(ms) {
      alarm.abort();
      alarm = new AbortController();
      void slept(clock, ms, AbortSignal.any([signal, alarm.signal])).then((isOver) => isOver && ring());
    },
    async wait() {
      if (!rung && !signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
      signal.throwIfAborted();
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
  let refusals = 0;
  let commands = options.commands ?? newSecretCommands();
  let { stamp } = watched;
  // The files may have changed between their first reading and the start of the watch.
  bell.ring();
  for (;;) {
    do {
      await bell.wait();
      await clock.sleep(settleMs, options.signal);
    } while (bell.hasRung());
    await folders.cover(Object.values(configFiles(options.home)));
    const before = stamp;
    stamp = await stampOf(options.home);
    // What a command has said counts until somebody writes one of the two files: a secret that has been rotated is read again then.
    if (stamp !== before) commands = newSecretCommands();
    const loaded = await loadConfig({ ...options, commands });
    // A secret may have changed between its reading and the start of its watch. What cannot be watched cannot be read either, which is said where it is read.
    if (await folders.cover(loaded.secretFiles, { optional: true })) bell.ring();
    const problems = loaded.ok ? losses(current, loaded) : loaded.problems;
    if (problems.length > 0 && !isDeepStrictEqual(problems, complaints)) options.onProblem(problems);
    if (problems.length === 0 && complaints.length > 0) options.onMended?.();
    complaints = problems;
    if (!loaded.ok || problems.length > 0) continue;
    const change = compare(options.sections, { started, before: current, after: loaded });
    // Of what was refused a part may be in force: it is told again, also when the files are as they were before.
    const isTaken = (refusals === 0 && isEmpty(change)) || (await options.onChange({ ...change, commands }));
    refusals = isTaken ? 0 : refusals + 1;
    if (isTaken) current = loaded;
    else bell.ringIn(backoffMs(refusals, refusedWaits));
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
): Omit<ConfigChange<Sections>, 'commands'> => {
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
  const awaitingRestart = sections.filter(({ name, reload }) => reload === 'restart' && differs(name, started)).map(({ name }) => name);
  return { config: after, sections: changed, awaitingRestart, accounts };
};

const isEmpty = ({ sections, accounts }: Pick<ConfigChange<readonly Section[]>, 'sections' | 'accounts'>): boolean => [sections, ...Object.values(accounts)].every((names) => names.length === 0);

const valueOf = (config: ValidConfig<readonly Section[]>, name: string): unknown => (config.sections as Readonly<Record<string, unknown>>)[name];

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../core/errors.ts';
import type { Clock } from '../lib/clock.ts';
import { restoringFolder } from '../store/copies/half-restored.ts';
import type { FileLock } from '../store/locks/file-lock.ts';
import { lockHome } from '../store/locks/home-lock.ts';
import { resumeMoves } from './restore-moves.ts';

interface FinishedRestore {
  /** The backup, and when it was made. */
  readonly file: string;
  readonly createdAt: string;
  /** Where what it replaced is kept; undefined when nothing was. */
  readonly aside: string | undefined;
}

const isHalfRestored = (home: string): boolean => existsSync(restoringFolder(home));

const everyMs = 100;
const attempts = 100;

/** Undefined when whoever is at work there has finished it meanwhile. */
const takeHalfRestored = async (home: string, clock: Clock): Promise<FileLock | undefined> => {
  for (let attempt = 1; isHalfRestored(home); attempt += 1) {
    const lock = lockHome(home);
    if (lock !== undefined) return lock;
    if (attempt === attempts) throw new ConfigError(`${home} is being restored right now. Try again when that is done.`, { mayPass: true });
    await clock.sleep(everyMs);
  }
  return undefined;
};

const resume = async (home: string): Promise<FinishedRestore> => {
  try {
    const { file, createdAt, aside } = await resumeMoves(home);
    return { file, createdAt, aside: existsSync(join(home, aside)) ? join(home, aside) : undefined };
  } catch (error) {
    throw new ConfigError(`A restore of ${home} was interrupted and cannot be finished (${error instanceof Error ? error.message : String(error)}). Mend that; the next hermes command goes on with it.`, { cause: error });
  }
};

/** Finishes a restore that was interrupted after its first move: everything was checked and ready by then. Undefined when there is none. Throws a `ConfigError` when it cannot be finished. */
export const finishRestore = async (home: string, clock: Clock): Promise<FinishedRestore | undefined> => {
  const lock = await takeHalfRestored(home, clock);
  try {
    return lock !== undefined && isHalfRestored(home) ? await resume(home) : undefined;
  } finally {
    lock?.release();
  }
};

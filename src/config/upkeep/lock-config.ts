import { join } from 'node:path';
import { ConfigError } from '../../core/errors.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import { awaitKernelLock } from '../../lib/kernel-lock.ts';
import type { KernelLock } from '../../lib/kernel-lock.ts';
import { prepareHome } from '../home.ts';

const fileOf = (home: string): string => join(home, 'gateway.lock-config');

/** Whoever changes the files may have to ask a program for a secret first, which has ten seconds. */
const patienceMs = 30_000;

export interface ConfigLockOptions {
  readonly clock?: Clock;
  readonly waitMs?: number;
}

const take = async (home: string, { clock = systemClock, waitMs = patienceMs }: ConfigLockOptions): Promise<KernelLock> => {
  let lock: KernelLock | undefined;
  try {
    lock = await awaitKernelLock(fileOf(home), { clock, waitMs, signal: new AbortController().signal });
  } catch (error) {
    throw new ConfigError(`${fileOf(home)} cannot be locked, so nothing was changed (${error instanceof Error ? error.message : String(error)}). Check its owner and its permissions.`, { cause: error });
  }
  if (lock === undefined) throw new ConfigError(`Somebody else has been changing the configuration in ${home} for ${waitMs / 1000} seconds, so nothing was changed. Try again when that command has ended.`, { mayPass: true });
  return lock;
};

/**
 * Runs `work`, which reads the files of the configuration, changes them and writes them back, while nobody else does, in this process or another. Makes the home.
 * A `ConfigError` when others take too long. Not to be called inside of itself.
 */
export const whileConfigLocked = async <T>(home: string, work: () => Promise<T>, options: ConfigLockOptions = {}): Promise<T> => {
  await prepareHome(home);
  const lock = await take(home, options);
  try {
    return await work();
  } finally {
    lock.release();
  }
};

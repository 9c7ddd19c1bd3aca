import { join } from 'node:path';
import { ConfigError } from '../../core/errors.ts';
import { isLocked, lockFile } from '../../store/locks/file-lock.ts';
import type { FileLock } from '../../store/locks/file-lock.ts';
import { lookFor } from './process.ts';

const fileOf = (home: string): string => join(home, 'gateway.lock-next');

/** The right to take a home over, held until that is done: two that want to do so come one after the other. */
export const takeSuccession = async (home: string, atMostMs: number): Promise<FileLock> => {
  const lock = await lookFor(() => lockFile(fileOf(home)), atMostMs);
  if (lock === undefined) throw new ConfigError(`Another gateway is taking over in ${home} and has not come to an end within ${Math.round(atMostMs / 1000)} s. hermes gateway status shows which one runs; try again then.`, { mayPass: true });
  return lock;
};

/** For whoever starts a gateway, until that has the home: so long nobody could find it to end it. Undefined while somebody else starts one or takes over. Releasing it twice does no harm. */
export const announceStart = (home: string): FileLock | undefined => {
  let lock = lockFile(fileOf(home));
  if (lock === undefined) return undefined;
  return {
    release() {
      lock?.release();
      lock = undefined;
    },
  };
};

/** Whoever wants to end a gateway means the one that comes out of this. Resolves with undefined when it takes longer. */
export const untilSucceeded = (home: string, atMostMs: number): Promise<true | undefined> => lookFor(() => (isLocked(fileOf(home)) ? undefined : true), atMostMs);

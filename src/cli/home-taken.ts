import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lockHome } from '../store/home-lock.ts';

/** Whether a gateway, or a terminal that hosts one, has this home right now. Looking makes no file. */
export const isHomeTaken = (home: string): boolean => {
  if (!existsSync(join(home, 'gateway.lock'))) return false;
  const lock = lockHome(home);
  lock?.release();
  return lock === undefined;
};

import { userInfo } from 'node:os';
import { recordAct } from '../lib/audit-log.ts';
import { systemClock } from '../lib/clock.ts';

export type Act =
  | 'backup' | 'restore' | 'import' | 'export' | 'erase'
  | 'sessions delete' | 'sessions prune'
  | 'pairing locked'
  | 'config migrate' | 'doctor fix' | 'mcp login'
  | 'cron add' | 'cron edit' | 'cron pause' | 'cron resume' | 'cron run' | 'cron stop' | 'cron remove'
  | 'gateway start' | 'gateway stop' | 'gateway restart' | 'gateway take over' | 'gateway install' | 'gateway uninstall';

/** Writes down that a command was carried out. What cannot be written is said, and undoes nothing. */
export const writeDown = (home: string, act: string, subject?: string): void => {
  try {
    recordAct(home, { by: `${userInfo().username} at the command line`, act, ...(subject !== undefined && { subject }) }, systemClock.now());
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    process.stderr.write(`It is done, but could not be written to logs/audit.log (${code}).\n`);
  }
};

/** Writes down what somebody at this machine has done, once it is done. Never what people's data says. */
export const noteAct = (home: string, act: Act, subject?: string): void => writeDown(home, act, subject);

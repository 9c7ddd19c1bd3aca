import { join } from 'node:path';
import { userInfo } from 'node:os';
import { systemClock } from '../lib/clock.ts';
import { openLogFile } from '../lib/log-file.ts';

const limits = { maxBytes: 1024 * 1024, keep: 5 };

/** Keeps in `logs/audit.log` what somebody at this machine has done with everybody's data, and who. Never what the data says. */
export const noteAct = async (home: string, act: 'backup' | 'restore' | 'import' | 'export' | 'erase', facts: Readonly<Record<string, unknown>>): Promise<void> => {
  const file = openLogFile(join(home, 'logs', 'audit.log'), limits);
  file.write(`${JSON.stringify({ time: new Date(systemClock.now()).toISOString(), act, by: userInfo().username, pid: process.pid, ...facts })}\n`);
  await file.close();
};

import { userInfo } from 'node:os';
import { recordAct } from '../lib/audit-log.ts';
import { systemClock } from '../lib/clock.ts';

/** Writes down what somebody at this machine has done with everybody's data, once it is done. Never what the data says. */
export const noteAct = (home: string, act: 'backup' | 'restore' | 'import' | 'export' | 'erase', subject: string): void =>
  recordAct(home, { by: `${userInfo().username} at the command line`, act, subject }, systemClock.now());

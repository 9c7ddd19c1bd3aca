import { systemClock } from '../../lib/clock.ts';
import { finishRestore } from '../../portability/finish-restore.ts';
import type { Terminal } from '../environment.ts';
import { noteAct } from '../note-act.ts';

/** Brings a home that a restore has left half done into its new state, before anybody looks at it, and says so. */
export const finishInterrupted = async (terminal: Terminal, home: string): Promise<void> => {
  const finished = await finishRestore(home, systemClock);
  if (finished === undefined) return;
  const { file, createdAt, aside } = finished;
  terminal.writeError(`A restore of ${home} was interrupted; it is finished now, with everything from ${file}.${aside === undefined ? '' : ` What was there before is in ${aside}`}\n`);
  noteAct(home, 'restore', `${file} of ${createdAt}, finished after an interruption`);
};

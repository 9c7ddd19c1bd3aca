import { join } from 'node:path';
import { dropNote, leaveNote, takeNote } from './left-note.ts';

/** What the SIGTERM that follows is for: to start anew, or to leave the home to a gateway that runs already. */
export type PlannedEnd = 'restart' | 'replaced';

interface TakenPlan {
  readonly end: PlannedEnd;
  /** For people. */
  readonly askedBy: string;
}

const fileOf = (home: string): string => join(home, '.gateway-restart.json');

/** Gives the SIGTERM that follows its meaning. */
export const planEnd = (home: string, plan: { readonly pid: number; readonly end: PlannedEnd }): Promise<void> => leaveNote(fileOf(home), plan.pid, { end: plan.end, by_pid: process.pid });

/** Nobody wants it any more, or it has been done. */
export const dropPlannedEnd = (home: string): void => dropNote(fileOf(home));

/** What the process was asked to end for, if somebody said so; the wish is used up. */
export const takePlannedEnd = (home: string, pid: number): TakenPlan | undefined => {
  const plan = takeNote(fileOf(home), pid);
  if (plan === undefined) return undefined;
  const by = `process ${String(plan['by_pid'])}`;
  return plan['end'] === 'replaced' ? { end: 'replaced', askedBy: `the gateway that takes over, ${by}` } : { end: 'restart', askedBy: `the command line, ${by}` };
};

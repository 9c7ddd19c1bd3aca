import { join } from 'node:path';
import { dropNote, leaveNote, takeNote } from './left-note.ts';

/** What the SIGTERM that follows is for: to end, to start anew, or to leave the home to a gateway that runs already. */
export type PlannedEnd = (typeof ends)[number];

const ends = ['stop', 'restart', 'replaced'] as const;

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
  const end = ends.find((known) => known === plan['end']);
  return end === undefined ? undefined : { end, askedBy: `${end === 'replaced' ? 'the gateway that takes over' : 'the command line'}, ${by}` };
};

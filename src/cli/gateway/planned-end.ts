import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from '../../lib/write-atomically.ts';

/** What the SIGTERM that follows is for: to start anew, or to leave the home to a gateway that runs already. */
export type PlannedEnd = 'restart' | 'replaced';

export interface TakenPlan {
  readonly end: PlannedEnd;
  /** For people. */
  readonly askedBy: string;
}

const fileOf = (home: string): string => join(home, '.gateway-restart.json');
const validMs = 60_000;

/** Gives the SIGTERM that follows its meaning. */
export const planEnd = (home: string, plan: { readonly pid: number; readonly end: PlannedEnd }): Promise<void> => writeAtomically(fileOf(home), JSON.stringify({ ...plan, by_pid: process.pid, at_ms: Date.now() }));

/** Nobody wants it any more, or it has been done. */
export const dropPlannedEnd = (home: string): void => rmSync(fileOf(home), { force: true });

/** What the process was asked to end for, if somebody said so; the wish is used up. */
export const takePlannedEnd = (home: string, pid: number): TakenPlan | undefined => {
  let text: string;
  try {
    text = readFileSync(fileOf(home), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  dropPlannedEnd(home);
  const plan = JSON.parse(text) as { readonly [name in 'pid' | 'end' | 'at_ms' | 'by_pid']?: unknown };
  if (plan.pid !== pid || typeof plan.at_ms !== 'number' || Date.now() - plan.at_ms >= validMs) return undefined;
  const by = `process ${String(plan.by_pid)}`;
  return plan.end === 'replaced' ? { end: 'replaced', askedBy: `the gateway that takes over, ${by}` } : { end: 'restart', askedBy: `the command line, ${by}` };
};

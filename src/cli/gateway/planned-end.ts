import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from '../../lib/write-atomically.ts';

const fileOf = (home: string): string => join(home, '.gateway-restart.json');
const validMs = 60_000;

/** Turns the SIGTERM that follows into a new start. */
export const planRestart = (home: string, pid: number): Promise<void> => writeAtomically(fileOf(home), JSON.stringify({ pid, at_ms: Date.now() }));

/** Whether the process was asked to end so that it starts anew; the wish is used up. */
export const takePlannedRestart = (home: string, pid: number): boolean => {
  let text: string;
  try {
    text = readFileSync(fileOf(home), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  rmSync(fileOf(home), { force: true });
  const plan = JSON.parse(text) as { readonly pid?: unknown; readonly at_ms?: unknown };
  return plan.pid === pid && typeof plan.at_ms === 'number' && Date.now() - plan.at_ms < validMs;
};

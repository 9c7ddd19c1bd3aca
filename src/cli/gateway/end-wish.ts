import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from '../../lib/write-atomically.ts';

/** What a program that the gateway has started wants of it, as soon as the turn that runs the program is over. */
export interface EndWish {
  readonly end: 'restart' | 'stop';
  /** Undefined when no turn waits for the program. */
  readonly turnId?: number;
}

const fileOf = (home: string): string => join(home, '.gateway-after-turn.json');
const validMs = 60_000;

/** Leaves the wish for the gateway with this number; a later one takes its place. */
export const leaveWish = (home: string, pid: number, wish: EndWish): Promise<void> => writeAtomically(fileOf(home), JSON.stringify({ ...wish, pid, at_ms: Date.now() }));

/** The wish that was left for this process, if it was just now; it is used up. */
export const takeWish = (home: string, pid: number): EndWish | undefined => {
  let text: string;
  try {
    text = readFileSync(fileOf(home), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  rmSync(fileOf(home), { force: true });
  const left = JSON.parse(text) as { readonly [name in 'pid' | 'at_ms' | 'end' | 'turnId']?: unknown };
  if (left.pid !== pid || typeof left.at_ms !== 'number' || Date.now() - left.at_ms >= validMs) return undefined;
  return { end: left.end === 'stop' ? 'stop' : 'restart', ...(typeof left.turnId === 'number' && { turnId: left.turnId }) };
};

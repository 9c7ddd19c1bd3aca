import { join } from 'node:path';
import { leaveNote, takeNote } from './left-note.ts';

/** What a program that the gateway has started wants of it, as soon as the turn that runs the program is over. */
export interface EndWish {
  readonly end: 'restart' | 'stop';
  /** Undefined when no turn waits for the program. */
  readonly turnId?: number;
}

const fileOf = (home: string): string => join(home, '.gateway-after-turn.json');

/** Leaves the wish for the gateway with this number; a later one takes its place. */
export const leaveWish = (home: string, pid: number, wish: EndWish): Promise<void> => leaveNote(fileOf(home), pid, { ...wish });

/** The wish that was left for this process, if it was just now; it is used up. */
export const takeWish = (home: string, pid: number): EndWish | undefined => {
  const left = takeNote(fileOf(home), pid);
  if (left === undefined) return undefined;
  return { end: left['end'] === 'stop' ? 'stop' : 'restart', ...(typeof left['turnId'] === 'number' && { turnId: left['turnId'] }) };
};

import { readFileSync, rmSync } from 'node:fs';
import { writeAtomically } from '../../lib/write-atomically.ts';

const validMs = 60_000;

/** Leaves word for the gateway with this number; a later note takes its place. */
export const leaveNote = (path: string, pid: number, note: Readonly<Record<string, unknown>>): Promise<void> => writeAtomically(path, JSON.stringify({ ...note, pid, at_ms: Date.now() }));

export const dropNote = (path: string): void => rmSync(path, { force: true });

/** The note that was left for this process, if it was just now; it is used up. */
export const takeNote = (path: string, pid: number): Readonly<Record<string, unknown>> | undefined => {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  dropNote(path);
  const { pid: whose, at_ms: atMs, ...note } = JSON.parse(text) as Record<string, unknown>;
  return whose === pid && typeof atMs === 'number' && Date.now() - atMs < validMs ? note : undefined;
};

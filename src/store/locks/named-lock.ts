import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockFile } from './file-lock.ts';

/** What a holder wrote about itself; it may have died while it did. */
export interface LockHolder {
  readonly home?: string;
  readonly pid?: number;
}

export type NamedLock = { readonly type: 'held'; release(): void } | { readonly type: 'taken'; readonly by: LockHolder };

const holderIn = (path: string): LockHolder => {
  try {
    const { home, pid } = JSON.parse(readFileSync(path, 'utf8')) as { readonly home?: unknown; readonly pid?: unknown };
    return { ...(typeof home === 'string' && { home }), ...(typeof pid === 'number' && { pid }) };
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
};

/** For people who wonder who has it. A disk that is full keeps nobody from what is free; then there is no note, rather than one of somebody before. */
const leaveNote = (path: string, about: Readonly<Record<string, unknown>>): void => {
  try {
    writeFileSync(path, JSON.stringify(about), { mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    rmSync(path, { force: true });
  }
};

/** Something of this machine that only one gateway of this user may have, in whatever home it runs; the kernel takes it back when its holder dies. */
export const takeNamedLock = (folder: string, name: string, about: { readonly home: string; readonly account?: string }): NamedLock => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const note = join(folder, `${name}.json`);
  const lock = lockFile(join(folder, `${name}.lock`));
  if (lock === undefined) return { type: 'taken', by: holderIn(note) };
  leaveNote(note, { ...about, pid: process.pid });
  return { type: 'held', release: () => lock.release() };
};

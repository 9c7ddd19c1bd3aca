import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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

/** Something of this machine that only one gateway of this user may have, in whatever home it runs; the kernel takes it back when its holder dies. */
export const takeNamedLock = (folder: string, name: string, about: { readonly home: string; readonly account?: string }): NamedLock => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const note = join(folder, `${name}.json`);
  const lock = lockFile(join(folder, `${name}.lock`));
  if (lock === undefined) return { type: 'taken', by: holderIn(note) };
  writeFileSync(note, JSON.stringify({ ...about, pid: process.pid }), { mode: 0o600 });
  return { type: 'held', release: () => lock.release() };
};

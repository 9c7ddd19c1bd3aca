import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { stateFolder } from '../../config/state-folder.ts';
import type { Environment } from '../../config/variables.ts';
import { writeAtomically } from '../../lib/write-atomically.ts';

const folderOf = (env: Environment): string => join(stateFolder(env), 'homes');

/** Sixteen characters that stand for a home in names of files and services. */
export const fingerprintOf = (home: string): string => createHash('sha256').update(home).digest('hex').slice(0, 16);

interface Entry {
  /** Where the home is written down. */
  readonly path: string;
  readonly home: string;
}

const entriesIn = (folder: string): readonly Entry[] => {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => /^[0-9a-f]{16}$/.test(name));
  return names.map((name) => ({ path: join(folder, name), home: readFileSync(join(folder, name), 'utf8').trim() }));
};

/** Whoever has been gone for a year does not come back. */
const forgetAfterMs = 365 * 86_400_000;

/** Every home in which this user has run a gateway can be found again, also one whose disk is away for a while. */
export const rememberHome = async (env: Environment, home: string): Promise<void> => {
  const folder = folderOf(env);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await writeAtomically(join(folder, fingerprintOf(home)), `${home}\n`);
  for (const entry of entriesIn(folder)) if (!existsSync(entry.home) && Math.abs(Date.now() - statSync(entry.path).mtimeMs) > forgetAfterMs) rmSync(entry.path, { force: true });
};

/** Homes that are there, in the order of their names. */
export const knownHomes = (env: Environment): readonly string[] => entriesIn(folderOf(env)).map(({ home }) => home).filter((home) => existsSync(home)).toSorted();

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { stateFolder } from '../../config/state-folder.ts';
import type { Environment } from '../../config/variables.ts';
import { writeAtomically } from '../../lib/write-atomically.ts';

const folderOf = (env: Environment): string => join(stateFolder(env), 'homes');

/** Sixteen characters that stand for a home in names of files and services. */
export const fingerprintOf = (home: string): string => createHash('sha256').update(home).digest('hex').slice(0, 16);

/** Every home in which this user has run a gateway can be found again. */
export const rememberHome = async (env: Environment, home: string): Promise<void> => {
  const path = join(folderOf(env), fingerprintOf(home));
  if (existsSync(path)) return;
  await mkdir(folderOf(env), { recursive: true, mode: 0o700 });
  await writeAtomically(path, `${home}\n`);
};

/** Homes that still exist, in the order of their names. */
export const knownHomes = (env: Environment): readonly string[] => {
  const folder = folderOf(env);
  if (!existsSync(folder)) return [];
  const homes: string[] = [];
  for (const name of readdirSync(folder)) {
    if (!/^[0-9a-f]{16}$/.test(name)) continue;
    const home = readFileSync(join(folder, name), 'utf8').trim();
    if (existsSync(home)) homes.push(home);
    else rmSync(join(folder, name), { force: true });
  }
  return homes.toSorted();
};

import { lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { keepNewest, namesIn } from '../lib/keep-newest.ts';
import { sweepPartial } from '../portability/sweep-partial.ts';

/** What is made now and then, each time under a new name, and how many of it stay. Names that people gave are not among them. */
const kept: readonly { readonly folder: string; readonly form: RegExp; readonly count: number }[] = [
  { folder: 'backups', form: /^replaced-\d{8}T\d{9}Z$/, count: 3 },
  { folder: '', form: /^replaced-\d{8}T\d{9}Z$/, count: 3 },
  { folder: 'backups', form: /^config-\d{8}T\d{9}Z\.yaml$/, count: 10 },
  { folder: '', form: /^config\.yaml\.\d{8}-\d{6}\.bak$/, count: 10 },
  { folder: '', form: /^\.env\.\d{8}-\d{6}\.bak$/, count: 10 },
  { folder: 'logs', form: /^report\.\d{8}\.\d{6}\..*\.json$/, count: 10 },
  { folder: 'logs', form: /^stuck\..*\.txt$/, count: 10 },
];

/** What `writeAtomically` has not got to its name because the process was killed; it may hold what `.env` was to hold. */
const unwritten = /^\..+\.[0-9a-f]{12}\.tmp$/;

/** Longer than it takes to write a file. */
const unwrittenMs = 3_600_000;

const sweepUnwritten = async (folder: string, nowMs: number): Promise<number> => {
  let removed = 0;
  for (const path of (await namesIn(folder)).filter((name) => unwritten.test(name)).map((name) => join(folder, name))) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined || Math.abs(nowMs - found.mtimeMs) < unwrittenMs) continue;
    await rm(path, { force: true });
    removed += 1;
  }
  return removed;
};

/** Removes what earlier changes of the home have left in it: all but the newest old files, and what backups, restores and writes that were killed did not clean up. Answers how many things went. */
export const pruneLeftovers = async (home: string, at: { readonly nowMs: number; readonly signal: AbortSignal }): Promise<number> => {
  let removed = 0;
  for (const folder of [join(home, 'backups'), home]) removed += (await sweepPartial(folder, at.nowMs)).length;
  removed += await sweepUnwritten(home, at.nowMs);
  for (const { folder, form, count } of kept) {
    at.signal.throwIfAborted();
    removed += (await keepNewest(join(home, folder), form, count)).length;
  }
  return removed;
};

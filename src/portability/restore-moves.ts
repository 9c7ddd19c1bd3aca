import { mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { ConfigError } from '../core/errors.ts';
import { mergeActs } from '../lib/audit-log.ts';
import { makeFolders } from '../lib/give-to-owner.ts';
import { syncFolder, syncTree } from '../lib/sync-folder.ts';
import { writeAtomically } from '../lib/write-atomically.ts';
import { restoringFolder } from '../store/copies/half-restored.ts';
import { auditLog } from './backup-contents.ts';
import { isThere } from './copy-folder.ts';
import { movedAway, movePath } from './move-path.ts';

/** What a restore moves. Paths are relative to the home. Where something stands says how far it is, so that it can be gone on with from everywhere. */
const movesSchema = z.object({
  format: z.literal(1),
  /** The backup and when it was made, for people. */
  file: z.string(),
  createdAt: z.string(),
  /** Where what is replaced goes. */
  aside: z.string(),
  /** What takes the place of what is there. */
  replace: z.array(z.string()),
  /** What comes only where nothing of its name is. */
  add: z.array(z.string()),
});

type Moves = z.output<typeof movesSchema>;

const movesName = 'moves.json';

/** What the backup holds waits in here. */
export const stagedIn = (folder: string): string => join(folder, 'files');

/** Files that are nothing without the one they belong to, and wrong beside another. */
const companionsOf = (part: string): readonly string[] => (part === 'gateway.db' ? ['gateway.db-wal', 'gateway.db-shm'] : []);

/** `backups`, or the home itself when that is on another disk or cannot be used: what is replaced has to get there at once. */
export const chooseAside = async (home: string, folder: string, name: string): Promise<string> => {
  const probe = join(folder, 'probe');
  const there = join(home, 'backups', `.partial-${basename(folder)}`);
  await mkdir(probe);
  try {
    await makeFolders(dirname(there));
    await rename(probe, there);
    await rmdir(there);
    return join('backups', name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return name;
  }
};

interface Mover {
  /** Paths are relative to the home. Nothing happens when there is nothing to move. */
  move(from: string, to: string): Promise<void>;
  /** What was moved stays so from here on, whatever happens. */
  settle(): Promise<void>;
}

const newMover = (home: string): Mover => {
  const touched = new Set<string>();
  return {
    async move(from, to) {
      if (!(await isThere(join(home, from)))) return;
      await movePath(join(home, from), join(home, to));
      touched.add(dirname(from));
      for (let folder = dirname(to); !touched.has(folder); folder = dirname(folder)) touched.add(folder);
    },
    async settle() {
      for (const folder of touched) await syncFolder(join(home, folder));
      touched.clear();
    },
  };
};

const placesOf = (home: string): { readonly working: string; readonly staged: string } => {
  const working = basename(restoringFolder(home));
  return { working, staged: stagedIn(working) };
};

/** Whoever was here between an interrupted restore and its end is kept apart from what it replaced. */
const freeAside = async (home: string, aside: string, part: string): Promise<string> => {
  let folder = aside;
  while (await isThere(join(home, folder, part))) folder = join(folder, 'later');
  return folder;
};

/** Everything comes into its place, from wherever an earlier attempt has stopped. */
const carryOut = async (home: string, moves: Moves): Promise<void> => {
  const { staged } = placesOf(home);
  const { move, settle } = newMover(home);
  const isWaiting = (part: string): Promise<boolean> => isThere(join(home, staged, part));
  // A database that is aside has its companions there already: what is found of them later belongs to another.
  for (const part of moves.replace) for (const file of companionsOf(part)) if (await isWaiting(part)) await move(file, join(await freeAside(home, moves.aside, part), file));
  await settle();
  for (const part of moves.replace) {
    if (await isThere(movedAway(join(home, part)))) await rm(movedAway(join(home, part)), { recursive: true });
    if (await isWaiting(part)) await move(part, join(await freeAside(home, moves.aside, part), part));
  }
  await settle();
  for (const part of moves.replace) await move(join(staged, part), part);
  for (const part of moves.add) if (!(await isThere(join(home, part)))) await move(join(staged, part), part);
  await settle();
  // Both have happened: what is in the backup, and what was done here since.
  await mergeActs(home, join(home, staged, auditLog));
};

/** Folders in which nothing is left. */
const removeEmpty = async (folder: string): Promise<void> => {
  if (!(await isThere(folder))) return;
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries) if (entry.isDirectory()) await removeEmpty(join(folder, entry.name));
  if ((await readdir(folder)).length === 0) await rmdir(folder);
};

/** Everything that `carryOut` has moved in this process goes back. The database goes before its companions, so that they are never with another. */
const undo = async (home: string, moves: Moves): Promise<void> => {
  const { staged } = placesOf(home);
  const { move, settle } = newMover(home);
  for (const part of [...moves.replace, ...moves.add]) if (!(await isThere(join(home, staged, part)))) await move(part, join(staged, part));
  await settle();
  for (const part of moves.replace) await move(join(moves.aside, part), part);
  await settle();
  for (const file of moves.replace.flatMap(companionsOf)) await move(join(moves.aside, file), file);
  await settle();
  await removeEmpty(join(home, moves.aside));
};

/** Until this has answered, the next look at the home goes on with the restore. */
const conclude = async (home: string): Promise<void> => {
  const done = await mkdtemp(join(home, '.restore-'));
  await rename(restoringFolder(home), join(done, 'done'));
  await syncFolder(home);
  await rm(done, { recursive: true, force: true });
};

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Puts what waits in a folder of the home into its place. From the moment at which the folder has its new name the restore happens, even if this process does not live
 * to see it. When it rejects, the home is as it was, or what is still to do is left for the next look at it.
 */
export const moveIntoPlace = async (home: string, folder: string, moves: Moves): Promise<void> => {
  await writeAtomically(join(folder, movesName), JSON.stringify(moves));
  await syncTree(folder);
  await rename(folder, restoringFolder(home));
  try {
    await syncFolder(home);
    await carryOut(home, moves);
  } catch (error) {
    await undo(home, moves).catch((failure: unknown) => {
      throw new ConfigError(`The restore could not be carried out (${reasonOf(error)}), nor what was moved be put back (${reasonOf(failure)}). Mend that; the next hermes command goes on with the restore.`, { cause: error });
    });
    await conclude(home);
    throw error;
  }
  await conclude(home);
};

/** Goes on with what an interrupted restore has left to do. */
export const resumeMoves = async (home: string): Promise<Moves> => {
  const moves = movesSchema.parse(JSON.parse(await readFile(join(restoringFolder(home), movesName), 'utf8')));
  await carryOut(home, moves);
  await conclude(home);
  return moves;
};

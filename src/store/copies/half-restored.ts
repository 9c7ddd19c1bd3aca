import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../../core/errors.ts';

/** Stands in a home from the moment at which a restore begins to move things until the last of them is in its place, and holds what is still to come. */
export const restoringFolder = (home: string): string => join(home, '.restoring');

/** Comes into a home with a backup whose rows are to go to a server, holds its name, and goes when they are there. */
export const unloadedNote = (home: string): string => join(home, '.load-database');

/** A home between two states must not be opened: what is not in its place yet would be made anew, and empty. */
export const refuseHalfRestored = (home: string): void => {
  if (existsSync(restoringFolder(home))) throw new StoreError('unavailable', `${home} is being restored, or a restore was interrupted there. Run hermes status: it finishes the restore.`);
};

/** A server that has not got the rows of a backup yet must not be used: the gateway would begin anew there, and they could no longer be loaded. */
export const refuseUnloaded = (home: string): void => {
  const note = unloadedNote(home);
  if (!existsSync(note)) return;
  const file = readFileSync(note, 'utf8').trim();
  throw new StoreError('unavailable', `hermes restore was interrupted before the data of ${file} was in PostgreSQL. Run it again: hermes restore ${file} --load-database --yes. To go on with what the server has, remove ${note}.`);
};

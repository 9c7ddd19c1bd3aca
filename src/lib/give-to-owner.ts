import { lchownSync, lstatSync, statSync } from 'node:fs';
import { lchown, lstat, mkdir, readdir, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** What is in a folder first: until that is done, nobody else can put something into it. */
const give = async (path: string, owner: Owner): Promise<void> => {
  const facts = await lstat(path);
  if (facts.isDirectory()) for (const name of await readdir(path)) await give(join(path, name), owner);
  // Where files have no owner of their own, they have this one already.
  if (facts.uid !== owner.uid || facts.gid !== owner.gid) await lchown(path, owner.uid, owner.gid);
};

/** What root has made in the folder of somebody else, with all that is below it, is theirs: a command that was run with sudo must not take it away from their gateway. */
export const giveToOwner = async (path: string, folder: string): Promise<void> => {
  if (process.getuid?.() === 0) await give(path, await stat(folder));
};

/** The same for one file or empty folder, for whoever cannot wait. Of a link it is the link: where that leads, whoever has the folder has chosen. */
export const giveToOwnerSync = (path: string, folder: string): void => {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(folder);
  const facts = lstatSync(path);
  if (facts.uid !== uid || facts.gid !== gid) lchownSync(path, uid, gid);
};

/** The same for a file that is open, whatever stands under its name by now. */
export const giveOpenFileToOwner = async (file: FileHandle, folder: string): Promise<void> => {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  await file.chown(uid, gid);
};

/** Makes a folder, and those that it lies in, for whoever has the one that is there. */
export const makeFolders = async (path: string): Promise<void> => {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first !== undefined) await giveToOwner(first, dirname(first));
};

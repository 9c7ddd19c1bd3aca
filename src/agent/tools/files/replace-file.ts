import { randomBytes } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { mkdir, open, rename, rm, unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { fileProblem } from './file-problem.ts';
import { holdFolder } from './hold-folder.ts';
import type { HeldFolder } from './hold-folder.ts';

/** A new text that lies ready beside its file. Exactly one of the two ends it. */
export interface StagedFile {
  /** Whoever reads sees the old text or the new one, never a part; after a crash too. */
  commit(): Promise<void>;
  discard(): Promise<void>;
}

const permissionBits = 0o7777n;

const writeBeside = async (folder: HeldFolder, name: string, content: { readonly bytes: Uint8Array; readonly like: BigIntStats | undefined }): Promise<void> => {
  const { bytes, like } = content;
  // What replaces a file that only its owner may read is never readable by others, not even while it is written.
  const file = await open(folder.path(name), 'wx', like === undefined ? 0o666 : 0o600);
  try {
    await file.writeFile(bytes);
    if (like !== undefined) {
      if (process.getuid?.() === 0) await file.chown(Number(like.uid), Number(like.gid));
      await file.chmod(Number(like.mode & permissionBits));
    }
    await file.sync();
  } finally {
    await file.close();
  }
};

/** Writes a text beside the file at `real`, a path without links, making folders as needed. `like` is the file that it replaces, whose mode it gets. */
export const stageFile = async (real: string, bytes: Uint8Array, like: BigIntStats | undefined): Promise<StagedFile> => {
  const name = basename(real);
  const temporary = `.${name.slice(0, 100)}.${randomBytes(6).toString('hex')}.tmp`;
  let folder: HeldFolder | undefined;
  try {
    await mkdir(dirname(real), { recursive: true });
    const held = await holdFolder(dirname(real));
    folder = held;
    await writeBeside(held, temporary, { bytes, like });
    return {
      async commit() {
        try {
          await rename(held.path(temporary), held.path(name));
          await held.sync();
        } catch (error) {
          await rm(held.path(temporary), { force: true });
          throw fileProblem(error, real);
        } finally {
          await held.release();
        }
      },
      async discard() {
        await rm(held.path(temporary), { force: true });
        await held.release();
      },
    };
  } catch (error) {
    if (folder !== undefined) {
      await rm(folder.path(temporary), { force: true });
      await folder.release();
    }
    throw fileProblem(error, real);
  }
};

/** Removes the file at a path without links. */
export const removeFile = async (real: string): Promise<void> => {
  let folder: HeldFolder | undefined;
  try {
    folder = await holdFolder(dirname(real));
    await unlink(folder.path(basename(real)));
    await folder.sync();
  } catch (error) {
    throw fileProblem(error, real);
  } finally {
    await folder?.release();
  }
};

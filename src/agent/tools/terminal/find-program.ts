import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

const absent: ReadonlySet<unknown> = new Set(['ENOENT', 'EACCES', 'ENOTDIR', 'ELOOP', 'EPERM']);

const isProgram = async (path: string): Promise<boolean> => {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch (error) {
    if (error instanceof Error && 'code' in error && absent.has(error.code)) return false;
    throw error;
  }
};

/** Where a program lies, by the folders of a `PATH`. */
export const findProgram = async (name: string, path: string): Promise<string | undefined> => {
  for (const folder of path.split(delimiter)) {
    const candidate = join(folder, name);
    if (isAbsolute(candidate) && (await isProgram(candidate))) return candidate;
  }
  return undefined;
};

import { ToolError } from '../contract.ts';

const sentences: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'cannot exist: a part of its path is a file',
  EISDIR: 'is a folder, not a file',
  EACCES: 'may not be accessed by the user the gateway runs as',
  EPERM: 'may not be accessed by the user the gateway runs as',
  EROFS: 'is on a read-only file system',
  ENOSPC: 'cannot be written because the disk is full',
  EDQUOT: 'cannot be written because the quota is used up',
  ELOOP: 'is a link that leads in a circle, or was replaced by a link',
  ENAMETOOLONG: 'has a name that is too long',
  ENXIO: 'is not an ordinary file',
  EBUSY: 'is in use and cannot be replaced',
  EXDEV: 'cannot be replaced because it is mounted by itself',
};

/** The code of an error that the operating system gave. */
export const systemCode = (error: unknown): string | undefined => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined);

/** A failure of the file system in words for the model; anything else comes back as it was. */
export const fileProblem = (error: unknown, shown: string): unknown => {
  const sentence = sentences[systemCode(error) ?? ''];
  return sentence === undefined ? error : new ToolError('failed', `${shown} ${sentence}.`, { cause: error });
};

import { stat } from 'node:fs/promises';
import { isAbsolute, normalize } from 'node:path';
import { ToolError } from '../contract.ts';

const problem = (path: string, code: unknown): string => {
  if (code === 'ENOENT') return `The folder ${path} does not exist.`;
  if (code === 'EACCES' || code === 'EPERM') return `The folder ${path} may not be entered.`;
  return `${path} is no folder.`;
};

/** The folder as it is used; a `ToolError` says what is wrong with it. */
export const checkWorkdir = async (workdir: string, userHome: string): Promise<string> => {
  if (/\p{Cc}/u.test(workdir)) throw new ToolError('bad_arguments', 'workdir holds control characters.');
  const path = workdir.replace(/^~(?=\/|$)/, userHome);
  if (!isAbsolute(path)) throw new ToolError('bad_arguments', `workdir must be an absolute path, not ${JSON.stringify(workdir.slice(0, 200))}.`);
  try {
    if (!(await stat(path)).isDirectory()) throw new ToolError('bad_arguments', problem(path, 'ENOTDIR'));
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw new ToolError('bad_arguments', problem(path, error instanceof Error && 'code' in error ? error.code : undefined), { cause: error });
  }
  return normalize(path);
};

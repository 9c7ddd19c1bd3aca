import type { BigIntStats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from './file-problem.ts';
import { classifyPath } from './path-policy.ts';
import type { FileUse, FileVerdict, PathPolicy } from './path-policy.ts';
import { credentialFilesOfUser } from './protected-paths.ts';

const inHome: readonly string[] = ['.env', 'config.yaml', 'config.yml', 'SOUL.md', 'auth.json', 'gateway.db', 'gateway.db-wal', 'state.db'];
const ofUser: readonly string[] = ['.netrc', '.npmrc', '.pypirc', '.pgpass', '.my.cnf', '.git-credentials', ...credentialFilesOfUser];
const foldersOfUser: readonly string[] = ['.ssh', '.gnupg', '.aws', '.kube'];
const maxInFolder = 200;

const unlessMissing = async <T>(work: Promise<T>, otherwise: T): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (systemCode(error) !== undefined) return otherwise;
    throw error;
  }
};

/** Device and number of a file: the same for every name it has. */
export type FileIdentity = string;
export const identityOf = ({ dev, ino }: BigIntStats): FileIdentity => `${dev}:${ino}`;

/**
 * Files that keep their rules under any other name, hard link or not. What cannot be looked at cannot be opened by us under another name
 * either, and is left out.
 */
export const guardedFiles = async (policy: PathPolicy): Promise<ReadonlyMap<FileIdentity, string>> => {
  const listed = foldersOfUser.map(async (name) => {
    const folder = join(policy.userHome, name);
    return (await unlessMissing(readdir(folder), [])).slice(0, maxInFolder).map((entry) => join(folder, entry));
  });
  const homes = [...new Set([policy.home, policy.agentHome, ...(policy.otherHomes ?? [])])];
  const paths = [...homes.flatMap((home) => inHome.map((name) => join(home, name))), ...ofUser.map((name) => join(policy.userHome, name)), ...(await Promise.all(listed)).flat()];
  const found = await Promise.all(paths.map(async (path) => ({ path, stats: await unlessMissing(stat(path, { bigint: true }), undefined) })));
  return new Map(found.flatMap(({ path, stats }): [FileIdentity, string][] => (stats?.isFile() ? [[identityOf(stats), path]] : [])));
};

/** The verdict on a file by what it is, whatever it is called. */
export const guardVerdict = (identity: FileIdentity, use: FileUse, at: { readonly policy: PathPolicy; readonly guarded: ReadonlyMap<FileIdentity, string> }): FileVerdict | undefined => {
  const path = at.guarded.get(identity);
  return path === undefined ? undefined : classifyPath(path, use, at.policy);
};

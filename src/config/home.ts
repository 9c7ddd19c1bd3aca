import { constants, existsSync } from 'node:fs';
import { access, chmod, lstat, mkdir, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { ConfigError } from '../core/errors.ts';
import { giveToOwner } from '../lib/give-to-owner.ts';
import type { Environment } from './variables.ts';

/** `HERMES_HOME`, or `.hermes` in the user's own folder. */
export const resolveHome = (env: Environment): string => {
  const own = env['HOME'] !== undefined && env['HOME'] !== '' ? env['HOME'] : homedir();
  const chosen = env['HERMES_HOME']?.trim() ?? '';
  if (chosen === '') return join(own, '.hermes');
  return chosen === '~' || chosen.startsWith('~/') ? join(own, chosen.slice(1)) : resolve(chosen);
};

/** File systems of other worlds (exFAT, a share, one for reading) have no modes to change; doctor says so. */
const unlessWithoutModes = (error: NodeJS.ErrnoException): void => {
  if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EROFS'].includes(error.code ?? '')) throw error;
};

/** Whatever made it, nobody else looks into it. What lies behind a link, or belongs to somebody else, is not ours to change. */
const closeToOthers = async (path: string, { refuseOpen = false }: HomeRules): Promise<void> => {
  if (process.platform === 'win32') return;
  const [facts, link] = await Promise.all([stat(path), lstat(path)]);
  if ((facts.mode & 0o077) === 0) return;
  if (!link.isSymbolicLink() && facts.uid === process.getuid?.()) return chmod(path, 0o700).catch(unlessWithoutModes);
  if (refuseOpen && (facts.mode & 0o007) !== 0) throw new ConfigError(`Every user of this machine can look into the home folder ${path}. Close it: chmod 700 ${await realpath(path)}`);
};

/** An editor leaves files as everybody's to read; the same holds for them as for the folder. */
const closeFile = async (path: string): Promise<void> => {
  if (process.platform === 'win32' || !existsSync(path)) return;
  const facts = await lstat(path);
  if (facts.isFile() && (facts.mode & 0o077) !== 0 && facts.uid === process.getuid?.()) await chmod(path, 0o600).catch(unlessWithoutModes);
};

/** One by one: where a file system says that a folder which is there cannot hold another, Node's own way of making all of them never ends. */
const makeFolder = async (path: string): Promise<void> => {
  const missing: string[] = [];
  for (let at = path; !existsSync(at); at = dirname(at)) missing.unshift(at);
  for (const each of missing) {
    await mkdir(each, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await giveToOwner(each, dirname(each));
  }
};

export interface HomeRules {
  /** Throws for a home that everybody can look into and that is not ours to close. */
  readonly refuseOpen?: boolean;
}

/** Makes sure that the folder exists, for us alone where that is ours to say, and can be written. Throws a `ConfigError` that says what to do. */
export const prepareHome = async (path: string, rules: HomeRules = {}): Promise<void> => {
  try {
    await makeFolder(path);
    if (!(await stat(path)).isDirectory()) throw new ConfigError(`The home folder ${path} is a file. Remove it or set HERMES_HOME to a folder.`);
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    await closeToOthers(path, rules);
    for (const name of ['config.yaml', '.env']) await closeFile(join(path, name));
    // Somebody else may have made it: a command that was run as root.
    const logs = join(path, 'logs');
    if (existsSync(logs)) await access(logs, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(sentence(path, (error as NodeJS.ErrnoException).code), { cause: error });
  }
};

const sentence = (path: string, code: string | undefined): string => {
  switch (code) {
    case 'EEXIST':
    case 'ENOTDIR':
      return `The home folder ${path} cannot be made because a file is in its way. Remove it or set HERMES_HOME to another folder.`;
    case 'EACCES':
    case 'EPERM':
      return `The home folder ${path}, or logs in it, cannot be written by this user. Change its owner or set HERMES_HOME to another folder.`;
    case 'EROFS':
      return `The home folder ${path} is on a read-only file system. Set HERMES_HOME to a folder that can be written.`;
    case 'ENOSPC':
      return `The home folder ${path} cannot be made because the disk is full.`;
    default:
      return `The home folder ${path} cannot be used (${code ?? 'unknown reason'}). Set HERMES_HOME to another folder.`;
  }
};

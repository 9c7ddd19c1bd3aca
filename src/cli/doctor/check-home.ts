import { access, chmod, constants, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Examination } from './examination.ts';
import { broken, ok, warning } from './finding.ts';
import type { Finding } from './finding.ts';

const leastBytes = 100 * 1024 * 1024;
const comfortableBytes = 1024 * 1024 * 1024;

interface Kept {
  readonly path: string;
  readonly mode: number;
  readonly holdsSecrets: boolean;
}

const missing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Windows has no such modes. */
const hasModes = process.platform !== 'win32';

/** Whether others can read something of ours. */
export const exposedFile = async ({ path, mode, holdsSecrets }: Kept): Promise<readonly Finding[]> => {
  try {
    const facts = await stat(path);
    if (!hasModes || (facts.mode & 0o077) === 0) return [];
    const command = `chmod ${mode.toString(8)} ${path}`;
    const repair = (): Promise<void> => chmod(path, mode);
    if (!holdsSecrets || (facts.mode & 0o044) === 0) return [{ ...warning(`${path} is open to other users of this machine`, command), repair }];
    const isBehindDoor = ((await stat(dirname(path))).mode & 0o077) === 0;
    return [{ ...(isBehindDoor ? warning(`${path} holds secrets, and only its folder keeps other users of this machine from reading it`, command) : broken(`${path} holds secrets and can be read by other users of this machine`, command)), repair }];
  } catch (error) {
    if (missing(error)) return [];
    throw error;
  }
};

const space = async (home: string): Promise<Finding> => {
  const facts = await statfs(home);
  const free = facts.bavail * facts.bsize;
  const text = `${Math.round(free / (1024 * 1024))} MB are free on its disk`;
  if (free < leastBytes) return broken(text, 'Make room: without space no message is accepted');
  return free < comfortableBytes ? warning(text, 'Make room before the gateway has to stop accepting messages') : ok(text);
};

const ownership = async (home: string): Promise<Finding> => {
  const facts = await stat(home);
  if (!facts.isDirectory()) return broken(`${home} is a file`, 'Remove it, or set HERMES_HOME to a folder');
  const user = process.getuid?.();
  if (user !== undefined && user !== 0 && facts.uid !== user) return broken(`${home} belongs to another user (${facts.uid})`, `sudo chown -R ${user} ${home}, or set HERMES_HOME to a folder of your own`);
  const isWritable = await access(home, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  return isWritable ? ok(`${home} is yours`) : broken(`${home} cannot be written`, `chmod u+rwx ${home}, or set HERMES_HOME to a folder on a disk that can be written`);
};

/** The folder, its modes and its disk. */
export const checkHome = async (examined: Examination): Promise<readonly Finding[]> => {
  const { home } = examined;
  if (!examined.homeExists) return [warning(`${home} does not exist yet`, 'hermes setup')];
  const owner = await ownership(home);
  if (owner.level === 'error') return [owner];
  const kept: readonly Kept[] = [
    { path: home, mode: 0o700, holdsSecrets: false },
    { path: join(home, '.env'), mode: 0o600, holdsSecrets: true },
    { path: join(home, 'config.yaml'), mode: 0o600, holdsSecrets: examined.secretInConfig },
    ...['gateway.db', 'gateway.db-wal', 'gateway.db-shm'].map((name) => ({ path: join(home, name), mode: 0o600, holdsSecrets: false })),
  ];
  const modes = (await Promise.all(kept.map(exposedFile))).flat();
  return [owner, ...modes, await space(home)];
};

import { lstat, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, createConnection } from 'node:net';
import type { Server, Socket } from 'node:net';
import { once } from 'node:events';
import { PlatformError } from '../../core/errors.ts';
import type { SocketPlace } from './socket-place.ts';

export interface Listening extends AsyncDisposable {
  readonly path: string;
  /** Whether terminals still find it. Something may have removed the file, as cleaners of temporary folders do. */
  isThere(): Promise<boolean>;
  /** Takes no further terminals. */
  refuse(): void;
}

const isPipe = (path: string): boolean => path.startsWith('\\\\.\\pipe\\');

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Whether somebody answers there. */
const isServed = async (path: string): Promise<boolean> => {
  const socket = createConnection(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return false;
    throw error;
  } finally {
    socket.destroy();
  }
};

/** Removes what a process that is gone has left behind; never something that is in use, or no socket. */
const clear = async (path: string): Promise<void> => {
  try {
    if (!(await lstat(path)).isSocket()) throw new PlatformError('unavailable', `${path} is in the way: it is no socket`);
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  if (await isServed(path)) throw new PlatformError('conflict', `another process serves ${path}`);
  await rm(path, { force: true });
};

/** Below the temporary folder anybody may have made it before us. */
const ownFolder = async (folder: string): Promise<void> => {
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  });
  const facts = await lstat(folder);
  if (!facts.isDirectory() || facts.uid !== process.getuid?.() || (facts.mode & 0o077) !== 0) throw new PlatformError('unavailable', `${folder} is not a folder of ours alone`);
};

/** The file is made at the moment of the call, so that it never exists with another mode. */
const bind = (server: Server, path: string): void => {
  const before = process.umask(0o177);
  try {
    server.listen(path);
  } finally {
    process.umask(before);
  }
};

/** Opens the socket for this user alone. */
export const listenAt = async (place: SocketPlace, onConnection: (socket: Socket) => void): Promise<Listening> => {
  const { path } = place;
  const server = createServer(onConnection);
  try {
    if (place.folder !== undefined) await ownFolder(place.folder);
    if (!isPipe(path)) await clear(path);
    const listening = once(server, 'listening');
    bind(server, path);
    await listening;
    if (place.pointer !== undefined) await writeFile(place.pointer, `${path}\n`, { mode: 0o600 });
  } catch (error) {
    server.close();
    if (error instanceof PlatformError) throw error;
    throw new PlatformError('unavailable', `the socket ${path} cannot be opened`, { cause: error });
  }
  const closed = once(server, 'close');
  let isOpen = true;
  const refuse = (): void => {
    if (isOpen) server.close();
    isOpen = false;
  };
  const inode = isPipe(path) ? undefined : (await stat(path)).ino;
  return {
    path,
    refuse,
    async isThere() {
      try {
        return inode === undefined || (await stat(path)).ino === inode;
      } catch (error) {
        if (isMissing(error)) return false;
        throw error;
      }
    },
    async [Symbol.asyncDispose]() {
      refuse();
      await closed;
      if (place.pointer !== undefined) await rm(place.pointer, { force: true });
      if (place.folder !== undefined) await rm(place.folder, { recursive: true, force: true });
    },
  };
};

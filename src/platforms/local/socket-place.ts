import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the terminals of an account find the gateway. */
export interface SocketPlace {
  readonly path: string;
  /** A folder of our own that has to be made for it, when the home's path is too long for a socket. */
  readonly folder?: string;
  /** The file in the home that then says where the socket is: the temporary folder of a terminal may be another one. */
  readonly pointer?: string;
}

export interface SocketQuery {
  readonly home: string;
  readonly account: string;
  /** The owner's own choice. */
  readonly socket?: string | undefined;
  readonly platform: NodeJS.Platform;
  readonly temporary: string;
  readonly userId: number;
}

/** The system's limit is 104 bytes on macOS and 108 on Linux, with a zero at the end. */
const longestPathBytes = 100;

const fits = (path: string): boolean => Buffer.byteLength(path) <= longestPathBytes;

const short = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

export const socketPlace = ({ home, account, socket, platform, temporary, userId }: SocketQuery): SocketPlace => {
  if (socket !== undefined) return { path: socket };
  const name = account === 'local' ? 'gateway.sock' : `${account}.sock`;
  const path = join(home, name);
  if (platform === 'win32') return { path: `\\\\.\\pipe\\hermes-${short(path)}` };
  if (fits(path)) return { path };
  const folder = join(fits(join(temporary, 'hermes-0000000000-000000000000', 's')) ? temporary : '/tmp', `hermes-${userId}-${short(path)}`);
  return { path: join(folder, 's'), folder, pointer: `${path}.path` };
};

/** The path at which a terminal attaches. A gateway that never ran here has written no pointer; then it is where it would be. */
export const attachPath = (query: SocketQuery): string => {
  const place = socketPlace(query);
  if (place.pointer === undefined) return place.path;
  try {
    return readFileSync(place.pointer, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return place.path;
    throw error;
  }
};

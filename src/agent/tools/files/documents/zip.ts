import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';

const inflate = promisify(inflateRaw);

/** The archive is not one, or holds more than anybody wants to read. */
export class BadArchive extends Error {}

interface Entry {
  readonly method: number;
  readonly packedBytes: number;
  readonly headerAt: number;
}

/** The files of an archive, by name. */
export interface Zip {
  /** Undefined when there is no such file. */
  read(name: string): Promise<string | undefined>;
}

const endMark = 0x06054b50;
const entryMark = 0x02014b50;
const headerMark = 0x04034b50;
const endBytes = 22;
const entryBytes = 46;
const headerBytes = 30;
const longestComment = 0xffff;
const mostEntries = 10_000;
/** Unpacked: of one file, and of all that are read. */
const mostBytes = 16 * 1024 * 1024;
const mostBytesTogether = 48 * 1024 * 1024;

const findEnd = (bytes: Buffer): number => {
  for (let at = bytes.length - endBytes; at >= Math.max(0, bytes.length - endBytes - longestComment); at -= 1) if (bytes.readUInt32LE(at) === endMark) return at;
  throw new BadArchive('it is damaged');
};

const readEntries = (bytes: Buffer): ReadonlyMap<string, Entry> => {
  const end = findEnd(bytes);
  const entries = new Map<string, Entry>();
  const count = bytes.readUInt16LE(end + 10);
  if (count > mostEntries) throw new BadArchive('it holds too many files');
  let at = bytes.readUInt32LE(end + 16);
  for (let index = 0; index < count; index += 1) {
    if (bytes.readUInt32LE(at) !== entryMark) throw new BadArchive('it is damaged');
    const nameBytes = bytes.readUInt16LE(at + 28);
    const name = bytes.toString('utf8', at + entryBytes, at + entryBytes + nameBytes);
    entries.set(name, { method: bytes.readUInt16LE(at + 10), packedBytes: bytes.readUInt32LE(at + 20), headerAt: bytes.readUInt32LE(at + 42) });
    at += entryBytes + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return entries;
};

const unpack = async (bytes: Buffer, { method, packedBytes, headerAt }: Entry): Promise<Buffer> => {
  if (bytes.readUInt32LE(headerAt) !== headerMark) throw new BadArchive('it is damaged');
  const from = headerAt + headerBytes + bytes.readUInt16LE(headerAt + 26) + bytes.readUInt16LE(headerAt + 28);
  const packed = bytes.subarray(from, from + packedBytes);
  if (method === 0) return packed;
  if (method !== 8) throw new BadArchive('it is packed in a way that cannot be read here');
  return inflate(packed, { maxOutputLength: mostBytes });
};

/** Turns what a damaged archive does to those who read it into what it is. */
const guarded = (error: unknown): unknown => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ERR_BUFFER_TOO_LARGE') return new BadArchive('it holds more than can be read here');
  return code === 'ERR_OUT_OF_RANGE' || code === 'ERR_BUFFER_OUT_OF_BOUNDS' || (typeof code === 'string' && code.startsWith('Z_')) ? new BadArchive('it is damaged', { cause: error }) : error;
};

/** Opens an archive that is in memory. Whatever is wrong with it is a `BadArchive`. */
export const openZip = (bytes: Buffer): Zip => {
  try {
    const entries = readEntries(bytes);
    let leftBytes = mostBytesTogether;
    return {
      async read(name) {
        const entry = entries.get(name);
        if (entry === undefined) return undefined;
        try {
          const unpacked = await unpack(bytes, entry);
          leftBytes -= unpacked.length;
          if (leftBytes < 0) throw new BadArchive('it holds more than can be read here');
          return unpacked.toString('utf8');
        } catch (error) {
          throw guarded(error);
        }
      },
    };
  } catch (error) {
    throw guarded(error);
  }
};

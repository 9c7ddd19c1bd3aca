/** A file of an archive, without what is in it. */
export interface TarFile {
  /** With forward slashes. */
  readonly name: string;
  readonly sizeBytes: number;
  readonly mode: number;
  readonly mtimeMs: number;
}

/** The archive is not one, or not all of one. */
export class ArchiveFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ArchiveFault';
  }
}

const block = 512;
const nameBytes = 100;
/** The largest size that fits the header's eleven octal digits. */
const plainSize = 0o77777777777;

const paddingAfter = (sizeBytes: number): number => (block - (sizeBytes % block)) % block;

const octal = (value: number, digits: number): string => `${Math.max(0, Math.trunc(value)).toString(8).padStart(digits, '0')}\0`;

const header = (file: TarFile, type: '0' | 'x'): Buffer => {
  const bytes = Buffer.alloc(block);
  Buffer.from(file.name).copy(bytes, 0, 0, nameBytes);
  bytes.write(octal(file.mode & 0o7777, 7), 100, 'latin1');
  bytes.write(octal(0, 7), 108, 'latin1');
  bytes.write(octal(0, 7), 116, 'latin1');
  bytes.write(octal(Math.min(file.sizeBytes, plainSize), 11), 124, 'latin1');
  bytes.write(octal(file.mtimeMs / 1000, 11), 136, 'latin1');
  bytes.write(`        ${type}`, 148, 'latin1');
  bytes.write('ustar\x0000', 257, 'latin1');
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return bytes;
};

/** `<length> key=value\n`, where the length counts its own digits. */
const paxRecord = (key: string, value: string): string => {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + 1;
  while (String(length).length + rest !== length) length = String(length).length + rest;
  return `${length} ${key}=${value}\n`;
};

/** What stands before the bytes of a file; what the plain header has no room for goes into one of the POSIX kind before it. */
export const tarHeader = (file: TarFile): Buffer => {
  const records = [
    ...(Buffer.byteLength(file.name) > nameBytes ? [paxRecord('path', file.name)] : []),
    ...(file.sizeBytes > plainSize ? [paxRecord('size', String(file.sizeBytes))] : []),
  ];
  if (records.length === 0) return header(file, '0');
  const extra = Buffer.from(records.join(''));
  const before = header({ name: 'PaxHeader', sizeBytes: extra.length, mode: 0o600, mtimeMs: file.mtimeMs }, 'x');
  return Buffer.concat([before, extra, Buffer.alloc(paddingAfter(extra.length)), header(file, '0')]);
};

/** What stands behind the bytes of a file. */
export const tarPadding = (sizeBytes: number): Buffer => Buffer.alloc(paddingAfter(sizeBytes));

/** What stands at the end of an archive. */
export const tarEnd: Buffer = Buffer.alloc(2 * block);

interface Bytes {
  /** Exactly so many; undefined at the end of the archive. */
  take(length: number): Promise<Buffer | undefined>;
  /** So many, as they come. */
  pieces(length: number): AsyncGenerator<Buffer>;
}

const bytesOf = (source: AsyncIterable<Buffer>): Bytes => {
  const iterator = source[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);
  const fill = async (): Promise<boolean> => {
    while (held.length === 0) {
      const next = await iterator.next();
      if (next.done === true) return false;
      held = next.value;
    }
    return true;
  };
  async function* pieces(length: number): AsyncGenerator<Buffer> {
    for (let left = length; left > 0; ) {
      if (!(await fill())) throw new ArchiveFault('the archive is cut off');
      const piece = held.subarray(0, left);
      held = held.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }
  return {
    pieces,
    async take(length) {
      if (!(await fill())) return undefined;
      const taken: Buffer[] = [];
      for await (const piece of pieces(length)) taken.push(piece);
      return Buffer.concat(taken);
    },
  };
};

const textAt = (bytes: Buffer, from: number, length: number): string => bytes.subarray(from, from + length).toString('utf8').split('\0', 1)[0] ?? '';

const numberAt = (bytes: Buffer, from: number, length: number): number => {
  const text = textAt(bytes, from, length).trim();
  if (!/^[0-7]*$/.test(text)) throw new ArchiveFault('this is not a tar archive that can be read here');
  return Number.parseInt(text === '' ? '0' : text, 8);
};

const checkSum = (bytes: Buffer): void => {
  const sum = bytes.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  if (sum !== numberAt(bytes, 148, 8)) throw new ArchiveFault('this is not a tar archive, or it is damaged');
};

const paxValues = (bytes: Buffer): ReadonlyMap<string, string> => {
  const values = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = Number(bytes.subarray(at, space).toString('latin1'));
    if (space === -1 || !Number.isInteger(length) || length < 5) throw new ArchiveFault('the archive is damaged');
    const [key = '', ...value] = bytes.subarray(space + 1, at + length - 1).toString('utf8').split('=');
    values.set(key, value.join('='));
    at += length;
  }
  return values;
};

/** No name is that long, and nothing else stands in such a header. */
const maxPaxBytes = 64 * 1024;

export interface TarEntry extends TarFile {
  /** The bytes; what of them is not read before the next file is passed over. */
  readonly content: AsyncIterable<Buffer>;
}

/** The files of an archive, one after the other. Folders are implied by names; links are refused. Throws an `ArchiveFault`. */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const bytes = bytesOf(source);
  let extra: ReadonlyMap<string, string> = new Map();
  for (;;) {
    const head = await bytes.take(block);
    if (head === undefined) throw new ArchiveFault('the archive is cut off');
    if (head.every((byte) => byte === 0)) return;
    checkSum(head);
    const type = textAt(head, 156, 1);
    const sizeBytes = Number(extra.get('size') ?? numberAt(head, 124, 12));
    if (type === 'x') {
      if (sizeBytes > maxPaxBytes) throw new ArchiveFault('the archive is damaged');
      extra = paxValues((await bytes.take(sizeBytes)) ?? Buffer.alloc(0));
      await bytes.take(paddingAfter(sizeBytes));
      continue;
    }
    if (type !== '0' && type !== '' && type !== '5') throw new ArchiveFault('the archive holds something that is neither a file nor a folder');
    const content = bytes.pieces(sizeBytes);
    const name = extra.get('path') ?? [textAt(head, 345, 155), textAt(head, 0, nameBytes)].filter((part) => part !== '').join('/');
    extra = new Map();
    if (type !== '5') yield { name, sizeBytes, mode: numberAt(head, 100, 8), mtimeMs: numberAt(head, 136, 12) * 1000, content };
    for await (const _rest of content);
    if (paddingAfter(sizeBytes) > 0) await bytes.take(paddingAfter(sizeBytes));
  }
}

import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, link, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { newId } from '../../core/ids.ts';
import type { MediaKind, OutboundMedia } from '../../core/message.ts';
import { maxFileBytes } from './wire.ts';
import type { WireFile } from './wire.ts';

export class FileTooLarge extends Error {
  constructor() {
    super(`Files may have up to ${maxFileBytes / 1024 / 1024} MB.`);
    this.name = 'FileTooLarge';
  }
}

/** Files of the chats, each beside a note with its name and type. */
export interface Files {
  save(body: ReadableStream<Uint8Array>, facts: { readonly name: string; readonly mime: string }): Promise<WireFile>;
  /** Takes over a file of ours. The same key again answers the same file. */
  adopt(media: OutboundMedia, key: string): Promise<WireFile>;
  find(id: string): Promise<WireFile | undefined>;
  read(id: string, range?: { readonly start: number; readonly end: number }): ReadableStream<Uint8Array>;
}

const idShape = /^(?:file_[a-z0-9]{10,40}|out_[0-9a-f]{32})$/;
const leftOverMs = 24 * 3_600_000;

/** Shown inside the page; everything else is only ever downloaded. SVG is a document because it can carry scripts. */
export const inlineTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);

export const kindOf = (mime: string): MediaKind => {
  if (inlineTypes.has(mime)) return 'photo';
  if (mime.startsWith('audio/')) return 'audio';
  return mime.startsWith('video/') ? 'video' : 'document';
};

export const cleanMime = (mime: string | undefined): string => {
  const type = mime?.split(';')[0]?.trim().toLowerCase() ?? '';
  return /^[\w.+-]{1,60}\/[\w.+-]{1,80}$/.test(type) ? type : 'application/octet-stream';
};

/** A name without folders and control characters, at most 120 characters long. */
export const cleanName = (name: string): string => {
  const last = name.toWellFormed().split(/[/\\]/).at(-1) ?? '';
  const clean = last.replaceAll(/[\p{Cc}\p{Cf}]/gu, '').trim();
  const short = [...clean].slice(-120).join('');
  return short === '' || /^\.+$/.test(short) ? 'file' : short;
};

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

const counting = (): Transform => {
  let bytes = 0;
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      bytes += chunk.byteLength;
      if (bytes > maxFileBytes) done(new FileTooLarge());
      else done(null, chunk);
    },
  });
};

const removeLeftOvers = async (folder: string, nowMs: number): Promise<void> => {
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.part')) continue;
    const path = join(folder, name);
    const facts = await stat(path);
    if (nowMs - facts.mtimeMs > leftOverMs) await rm(path, { force: true });
  }
};

export const openFiles = async (folder: string, now: () => number): Promise<Files> => {
  await removeLeftOvers(folder, now());
  const blob = (id: string): string => join(folder, `${id}.bin`);
  const note = (id: string): string => join(folder, `${id}.json`);
  const describe = async (id: string, facts: { readonly name: string; readonly mime: string }): Promise<WireFile> => {
    const { size } = await stat(blob(id));
    const file: WireFile = { id, name: cleanName(facts.name), mime: facts.mime, sizeBytes: size, kind: kindOf(facts.mime) };
    await writeFile(`${note(id)}.part`, JSON.stringify(file), { mode: 0o600 });
    await rename(`${note(id)}.part`, note(id));
    return file;
  };
  const find = async (id: string): Promise<WireFile | undefined> => {
    if (!idShape.test(id)) return undefined;
    try {
      return JSON.parse(await readFile(note(id), 'utf8')) as WireFile;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };
  return {
    find,
    async save(body, facts) {
      const id = newId('file', now());
      const part = `${blob(id)}.part`;
      try {
        await pipeline(Readable.fromWeb(body as NodeReadableStream<Uint8Array>), counting(), createWriteStream(part, { flags: 'wx', mode: 0o600 }));
        await rename(part, blob(id));
      } catch (error) {
        await rm(part, { force: true });
        throw error;
      }
      return describe(id, facts);
    },
    async adopt(media, key) {
      const id = `out_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
      const known = await find(id);
      if (known !== undefined) return known;
      await link(media.path, blob(id)).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') return;
        if (isMissing(error)) throw error;
        const part = `${blob(id)}.part`;
        await copyFile(media.path, part);
        await rename(part, blob(id));
      });
      return describe(id, { name: media.name, mime: cleanMime(media.mime) });
    },
    read: (id, range) => Readable.toWeb(createReadStream(blob(id), range)) as ReadableStream<Uint8Array>,
  };
};

import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { newId } from '../core/ids.ts';
import type { OutboundMedia } from '../core/message.ts';
import type { Clock } from '../lib/clock.ts';
import { fileKind } from './file-kinds.ts';

/** Bytes that are to be sent as a file, and how. */
export interface NewFile {
  /** As people see it. */
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  readonly asVoice?: boolean;
  readonly asDocument?: boolean;
  /** Instead of what its name says. */
  readonly mime?: string;
}

const safeExtension = (name: string): string => {
  const given = extname(name).toLowerCase();
  return /^\.[a-z0-9]{1,8}$/.test(given) ? given : '.bin';
};

/** Without anything that would not be part of a name. */
const shownName = (name: string): string => name.toWellFormed().replaceAll(/[\p{Cc}/\\]/gu, '_').slice(-120).trim() || 'file';

/**
 * Copies what is to be sent into the media folder, under a name of our own: it goes out as it was at this moment, whatever becomes of the
 * original. Kept as long as other media.
 */
export const keepOutgoing = async (mediaFolder: string, file: NewFile, at: { readonly clock: Clock; readonly signal: AbortSignal }): Promise<OutboundMedia> => {
  const folder = join(mediaFolder, 'outgoing', new Date(at.clock.now()).toISOString().slice(0, 7));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${newId('file', at.clock.now())}${safeExtension(file.name)}`);
  try {
    await pipeline(Readable.from(file.bytes), createWriteStream(`${path}.part`, { mode: 0o600, flags: 'wx' }), { signal: at.signal });
    await rename(`${path}.part`, path);
  } catch (error) {
    await rm(`${path}.part`, { force: true });
    throw error;
  }
  const { kind, mime } = fileKind(file.name, { asVoice: file.asVoice === true, asDocument: file.asDocument === true });
  return { kind, path, mime: file.mime ?? mime, name: shownName(file.name) };
};

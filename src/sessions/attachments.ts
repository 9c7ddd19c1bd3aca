import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { PlatformError, StoreError } from '../core/errors.ts';
import type { MediaRef } from '../core/message.ts';
import type { Attachment } from '../core/transcript.ts';
import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { newSlots } from '../lib/slots.ts';
import type { Slots } from '../lib/slots.ts';
import type { Adapter } from '../platforms/contract.ts';
import type { RunningTurn } from '../store/sessions/turns.ts';
import type { Writing } from '../store/store.ts';
import { fileWords } from './media/file-words.ts';
import type { MediaReader, OpenMediaReader, ReadFile, SentFile } from './media/media-reader.ts';
import type { ItemGroup, LoadedMedia } from './user-message.ts';

export interface AttachmentOptions {
  /** `<home>/media` */
  readonly folder: string;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly log: Logger;
  adapter(account: string): Adapter | undefined;
  /** Who puts files into words; without one they are only attached. */
  readonly openReader?: OpenMediaReader;
  /** Shows the chat what was understood of its voice messages, in the transaction that writes those into the transcript. */
  readonly echo?: (tx: Writing, turn: Pick<RunningTurn, 'id' | 'target'>, heard: LoadedMedia['heard']) => Promise<void>;
}

type FileOf = Omit<SentFile, 'fetch'>;

const tries = 3;
const timeoutMs = 120_000;
/** Files of one message that are at work at the same time. */
const atOnce = 3;

const extensions: Readonly<Record<string, string>> = {
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'image/webp': '.webp',
  'image/gif': '.gif',
  'audio/ogg': '.ogg',
  'audio/mpeg': '.mp3',
  'video/mp4': '.mp4',
  'application/pdf': '.pdf',
  'text/plain': '.txt',
};

const safeExtension = (media: MediaRef): string => {
  const given = extname(media.name ?? '').toLowerCase();
  return /^\.[a-z0-9]{1,8}$/.test(given) ? given : (extensions[media.mime] ?? '.bin');
};

const limitBytes = (maxBytes: number): Transform => {
  let total = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      total += chunk.length;
      if (total > maxBytes) done(new PlatformError('too_large', `larger than ${maxBytes} bytes`));
      else done(null, chunk);
    },
  });
};

const safeName = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 80) || '_';

/** Below the media folder: what people sent to one conversation. Only its own tools may read there. */
export const sessionMedia = (sessionId: string): string => join('sessions', safeName(sessionId));

/** Streams one file into its conversation's folder under a name of our own, never one that a sender chose. */
const fetchOne = async (options: AttachmentOptions, adapter: Adapter, { media, item }: FileOf, halt: AbortSignal): Promise<Attachment> => {
  if (adapter.media === undefined) throw new PlatformError('unsupported', 'the platform cannot hand out files');
  const name = `${createHash('sha256').update(JSON.stringify(media.ref)).digest('hex').slice(0, 16)}-${randomBytes(4).toString('hex')}${safeExtension(media)}`;
  const place = sessionMedia(item.sessionId);
  const folder = join(options.folder, place);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const partial = join(folder, `.${name}.part`);
  const signal = AbortSignal.any([halt, AbortSignal.timeout(timeoutMs)]);
  try {
    const body = await adapter.media.open(media, signal);
    const maxBytes = Math.min(options.maxBytes, adapter.media.maxDownloadBytes);
    await pipeline(Readable.from(body), limitBytes(maxBytes), createWriteStream(partial, { mode: 0o600 }), { signal });
    await rename(partial, join(folder, name));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  return { kind: media.kind, mime: media.mime, name: media.name ?? name, path: join(place, name) };
};

const fetchWithRetry = async (options: AttachmentOptions, file: FileOf, halt: AbortSignal): Promise<Attachment> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const adapter = options.adapter(file.item.event.account);
      if (adapter === undefined) throw new PlatformError('unavailable', 'the account has no connection');
      return await fetchOne(options, adapter, file, halt);
    } catch (error) {
      const passing = error instanceof PlatformError && (error.rule.retry === 'backoff' || error.rule.retry === 'after-delay' || error.rule.retry === 'once-marked');
      if (!passing || attempt === tries || !(await slept(options.clock, error.facts.retryAfterMs ?? attempt * 1000, halt))) throw error;
    }
  }
};

const reasonFor = (error: unknown, halt: AbortSignal): string => {
  if (halt.aborted) return 'I was stopped';
  if (!(error instanceof PlatformError)) return 'it could not be stored';
  return error.code === 'too_large' ? 'it is too large' : 'the platform did not hand it out';
};

/** What loads the files of one message. */
interface Loading {
  readonly options: AttachmentOptions;
  readonly reader: MediaReader | undefined;
  readonly slots: Slots;
  readonly halt: AbortSignal;
}

interface Loaded extends ReadFile {
  readonly inboxId: number;
}

const loadOne = async ({ options, reader, slots, halt }: Loading, file: FileOf): Promise<Loaded> => {
  const { item, media } = file;
  const fetch = (): Promise<Attachment> => fetchWithRetry(options, file, halt);
  try {
    const read = await slots.run(halt, async () => (reader === undefined ? { attachment: await fetch() } : reader.read({ ...file, fetch }, halt)));
    return { ...read, inboxId: item.id };
  } catch (error) {
    if (error instanceof StoreError) throw error;
    options.log.warn({ err: error, inbox: item.id, account: item.event.account, kind: media.kind }, 'media.not_loaded');
    return { note: `[A ${fileWords(media)} was sent but could not be loaded: ${reasonFor(error, halt)}.]`, inboxId: item.id };
  }
};

/** A file that cannot be read back is still attached. */
const quoteOf = async ({ options, reader }: Loading, attachment: Attachment): Promise<string | undefined> => {
  try {
    return await reader?.quote(attachment);
  } catch (error) {
    options.log.warn({ err: error, file: attachment.path }, 'media.not_quoted');
    return undefined;
  }
};

const notesOf = async (loading: Loading, { note, attachment }: Loaded): Promise<readonly string[]> => {
  const quote = attachment === undefined ? undefined : await quoteOf(loading, attachment);
  return [note, quote].filter((text) => text !== undefined);
};

/**
 * Brings a message's files home and puts into words what a model could not read by itself. A file that cannot be had, or not before `halt`, becomes a note; the text is
 * never held up by it for good.
 */
export const loadAttachments = async (options: AttachmentOptions, group: ItemGroup, halt: AbortSignal): Promise<LoadedMedia> => {
  const files = group.flatMap((item) => item.event.media.map((media): FileOf => ({ item, media })));
  const reader = files.length === 0 ? undefined : await options.openReader?.(group[0]);
  const loading: Loading = { options, reader, slots: newSlots(atOnce), halt };
  const loaded = await Promise.all(files.map((file) => loadOne(loading, file)));
  const notes: string[] = [];
  // One after the other: the first files of a message get its room first.
  for (const file of loaded) notes.push(...(await notesOf(loading, file)));
  const heard = loaded.flatMap(({ heard: text, inboxId }) => (text === undefined ? [] : [{ inboxId, text }]));
  return { attachments: loaded.flatMap(({ attachment }) => attachment ?? []), notes, ...(heard.length > 0 && { heard }) };
};

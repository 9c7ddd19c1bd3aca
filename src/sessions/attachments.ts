import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { PlatformError } from '../core/errors.ts';
import type { MediaRef } from '../core/message.ts';
import type { Attachment } from '../core/transcript.ts';
import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Adapter } from '../platforms/contract.ts';
import type { ItemGroup, LoadedMedia } from './user-message.ts';

export interface AttachmentOptions {
  /** `<home>/media` */
  readonly folder: string;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly log: Logger;
  adapter(account: string): Adapter | undefined;
}

const tries = 3;
const timeoutMs = 120_000;

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

/** Streams one file into the media folder under a name of our own, never one that a sender chose. */
const fetchOne = async (options: AttachmentOptions, adapter: Adapter, media: MediaRef, halt: AbortSignal): Promise<Attachment> => {
  if (adapter.media === undefined) throw new PlatformError('unsupported', 'the platform cannot hand out files');
  const month = new Date(options.clock.now()).toISOString().slice(0, 7);
  const name = `${createHash('sha256').update(JSON.stringify(media.ref)).digest('hex').slice(0, 16)}-${randomBytes(4).toString('hex')}${safeExtension(media)}`;
  const folder = join(options.folder, month);
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
  return { kind: media.kind, mime: media.mime, name: media.name ?? name, path: join(month, name) };
};

const fetchWithRetry = async (options: AttachmentOptions, account: string, media: MediaRef, halt: AbortSignal): Promise<Attachment> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const adapter = options.adapter(account);
      if (adapter === undefined) throw new PlatformError('unavailable', 'the account has no connection');
      return await fetchOne(options, adapter, media, halt);
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

const sentenceFor = (media: MediaRef, reason: string): string => {
  const what = media.name === undefined ? media.kind : `${media.kind} ${JSON.stringify(media.name.slice(0, 80).toWellFormed())}`;
  return `[A ${what} was sent but could not be loaded: ${reason}.]`;
};

/** Brings a message's files home. A file that cannot be had, or not before `halt`, becomes a note; the text is never held up by it for good. */
export const loadAttachments = async (options: AttachmentOptions, group: ItemGroup, halt: AbortSignal): Promise<LoadedMedia> => {
  const attachments: Attachment[] = [];
  const notes: string[] = [];
  for (const item of group) {
    for (const media of item.event.media) {
      try {
        attachments.push(await fetchWithRetry(options, item.event.account, media, halt));
      } catch (error) {
        options.log.warn({ err: error, inbox: item.id, account: item.event.account, kind: media.kind }, 'media.not_loaded');
        notes.push(sentenceFor(media, reasonFor(error, halt)));
      }
    }
  }
  return { attachments, notes };
};

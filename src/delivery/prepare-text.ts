import { basename } from 'node:path';
import { ToolError } from '../agent/tools/contract.ts';
import type { OpenFile } from '../agent/tools/files/open-file.ts';
import type { OutboundMedia } from '../core/message.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Platform } from '../platforms/contract.ts';
import type { FetchImage } from './fetch-image.ts';
import { shortenLongText } from './long-text.ts';
import { splitMedia } from './media-directives.ts';
import type { MediaFile } from './media-directives.ts';
import { keepOutgoing } from './outgoing-file.ts';

export interface PrepareDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly mediaFolder: string;
  readonly maxBytes: number;
  /** Opens a file that the agent may send, see `openSendable`. Rejects with a `ToolError`. */
  open(path: string): Promise<OpenFile>;
  /** Left out where pictures on the web stay links. */
  readonly fetchImage?: FetchImage;
  /** Whether the account can send files. */
  sendsFiles(account: string): boolean;
  platform(account: string): Platform | undefined;
}

export interface Prepared {
  readonly text: string;
  /** Left out when there are none. */
  readonly media?: readonly OutboundMedia[];
}

const mostFiles = 10;

interface Work {
  readonly deps: PrepareDeps;
  readonly signal: AbortSignal;
  readonly media: OutboundMedia[];
  /** What people read below the text, because it could not be attached. */
  readonly notes: string[];
}

const copy = async ({ deps, signal }: Work, file: MediaFile): Promise<OutboundMedia> => {
  const { handle, stats } = await deps.open(file.path);
  try {
    if (stats.size > BigInt(deps.maxBytes)) throw new ToolError('unavailable', `it is larger than ${Math.floor(deps.maxBytes / 1024 / 1024)} MB.`);
    if (stats.size === 0n) throw new ToolError('unavailable', 'it is empty.');
    const bytes: AsyncIterable<Uint8Array> = handle.createReadStream({ autoClose: false, end: Number(stats.size) - 1 });
    return await keepOutgoing(deps.mediaFolder, { ...file, name: basename(file.path), bytes }, { clock: deps.clock, signal });
  } finally {
    await handle.close();
  }
};

/** What went wrong in words; anything but a refusal is a fault of ours. */
const reasonOf = ({ deps, signal }: Work, error: unknown, what: string): string => {
  signal.throwIfAborted();
  if (!(error instanceof ToolError)) deps.log.error({ err: error, what }, 'media.not_attached');
  return error instanceof ToolError ? error.message : 'something went wrong on my side.';
};

const attachFiles = async (work: Work, files: readonly MediaFile[]): Promise<void> => {
  for (const file of files) {
    const name = basename(file.path);
    try {
      if (work.media.length >= mostFiles) throw new ToolError('unavailable', `at most ${mostFiles} files go with one answer.`);
      work.media.push(await copy(work, file));
    } catch (error) {
      work.notes.push(`⚠️ \`${name.replaceAll('`', '')}\` could not be attached: ${reasonOf(work, error, name)}`);
    }
  }
};

/** Files that are only named are attached if they can be; nobody has asked for them, so nothing is said when they cannot. */
const attachMentioned = async (work: Work, paths: readonly string[]): Promise<void> => {
  for (const path of paths.slice(0, mostFiles - work.media.length)) {
    try {
      work.media.push(await copy(work, { path, asVoice: false, asDocument: false }));
    } catch (error) {
      work.deps.log.debug({ reason: reasonOf(work, error, basename(path)) }, 'media.mentioned_not_attached');
    }
  }
};

const attachImages = async (work: Work, images: readonly { readonly url: string; readonly alt: string }[]): Promise<void> => {
  const { deps, signal } = work;
  for (const { url, alt } of images) {
    try {
      if (deps.fetchImage === undefined || work.media.length >= mostFiles) throw new ToolError('unavailable', 'it stays a link.');
      const { bytes, mime } = await deps.fetchImage(url, signal);
      work.media.push(await keepOutgoing(deps.mediaFolder, { name: basename(new URL(url).pathname), bytes: [bytes], mime }, { clock: deps.clock, signal }));
    } catch (error) {
      deps.log.debug({ reason: reasonOf(work, error, url) }, 'media.image_not_fetched');
      work.notes.push(`[${alt === '' ? basename(new URL(url).pathname) : alt.replaceAll(/[[\]]/g, '')}](${url})`);
    }
  }
};

/** A text for which no file can be made goes out in as many messages as it takes. */
const shortened = async (text: string, account: string, { deps, signal }: { readonly deps: PrepareDeps; readonly signal: AbortSignal }): ReturnType<typeof shortenLongText> => {
  const platform = deps.platform(account);
  if (platform === undefined) return undefined;
  try {
    return await shortenLongText(platform, text, { mediaFolder: deps.mediaFolder, clock: deps.clock, signal, sendsFiles: deps.sendsFiles(account) });
  } catch (error) {
    signal.throwIfAborted();
    deps.log.error({ err: error, account }, 'media.text_not_shortened');
    return undefined;
  }
};

/**
 * An answer as it goes out to an account: files that it names by `MEDIA:` are copied and go with it, what may not be sent is said, and a text that is too long for
 * the place becomes a file. It writes only below the media folder; whatever is wrong with a file, the text is never lost.
 */
export const prepareText = async (text: string, account: string, at: { readonly deps: PrepareDeps; readonly signal: AbortSignal }): Promise<Prepared> => {
  const { deps, signal } = at;
  const split = splitMedia(text);
  const work: Work = { deps, signal, media: [], notes: [] };
  if (deps.sendsFiles(account)) {
    await attachFiles(work, split.files);
    await attachImages(work, split.images);
    await attachMentioned(work, split.mentioned);
  } else {
    for (const { path } of split.files) work.notes.push(`📎 \`${basename(path).replaceAll('`', '')}\` (files cannot be sent here)`);
    for (const { url, alt } of split.images) work.notes.push(alt === '' ? url : `[${alt.replaceAll(/[[\]]/g, '')}](${url})`);
  }
  const readable = work.notes.length === 0 ? split.text : [split.text, work.notes.join('\n')].filter((part) => part.trim() !== '').join('\n\n');
  const short = await shortened(readable, account, at);
  const media = [...work.media, ...(short?.media ?? [])];
  return { text: short?.text ?? readable, ...(media.length > 0 && { media }) };
};

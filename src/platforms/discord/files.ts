import type { IncomingMessage } from 'node:http';
import { PlatformError } from '../../core/errors.ts';
import type { MediaRef } from '../../core/message.ts';
import { streamOf } from '../../lib/stream-of.ts';
import type { Media } from '../contract.ts';
import type { DiscordApi } from './api.ts';
import type { DiscordOptions } from './options.ts';
import { list, record, snowflake, text } from './wire.ts';
import type { Json } from './wire.ts';

/** What a person with the largest plan may send. */
const maxDownloadBytes = 500 * 1024 * 1024;

const tooLarge = (): PlatformError => new PlatformError('too_large', `the file has more than ${maxDownloadBytes} bytes`);

const gone = (): PlatformError => new PlatformError('not_found', 'Discord no longer has the file', { missing: 'file' });

/** Files are fetched from Discord's own hosts only, whatever a message says. */
const isTrusted = (address: string, root: string): boolean => {
  const url = URL.parse(address);
  if (url === null) return false;
  if (url.origin === new URL(root).origin) return true;
  return url.protocol === 'https:' && /(?:^|\.)(?:discordapp\.com|discordapp\.net|discord\.com)$/.test(url.hostname);
};

/** Counts what really arrives: the announced size is only a promise. Leaving it early ends the connection. */
async function* bounded(response: IncomingMessage, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  try {
    const status = response.statusCode ?? 0;
    if (status === 404 || status === 403) throw gone();
    if (status !== 200) throw new PlatformError(status >= 500 ? 'unavailable' : 'rejected', `download: HTTP ${status}`);
    for await (const chunk of response) {
      bytes += chunk.byteLength;
      if (bytes > maxDownloadBytes) throw tooLarge();
      yield chunk;
    }
  } catch (cause) {
    if (cause instanceof PlatformError) throw cause;
    throw signal.aborted ? new PlatformError('aborted', 'aborted') : new PlatformError('unavailable', 'the download was cut', { cause });
  } finally {
    response.destroy();
  }
}

const attachmentsOf = (message: Json | undefined): readonly unknown[] => [
  ...list(message?.['attachments']),
  ...list(message?.['message_snapshots']).flatMap((snapshot) => list(record(record(snapshot)?.['message'])?.['attachments'])),
];

/** The address of a file expires within a day, so it is asked for anew each time. */
const findAddress = async (api: DiscordApi, { ref }: MediaRef, signal: AbortSignal): Promise<string> => {
  const [channel, message, attachment] = [snowflake(ref['channel_id']), snowflake(ref['message_id']), snowflake(ref['attachment_id'])];
  if (channel === undefined || message === undefined || attachment === undefined) throw gone();
  const answer = await api.call({ method: 'GET', route: '/channels/{channel}/messages/{message}', ids: { channel, message } }, signal).catch((error: unknown) => {
    throw error instanceof PlatformError && (error.code === 'not_found' || error.code === 'chat_gone') ? gone() : error;
  });
  const found = attachmentsOf(record(answer)).map(record).find((each) => each?.['id'] === attachment);
  return text(found?.['url']) ?? Promise.reject(gone());
};

/** Files of events. */
export const newMedia = (api: DiscordApi, options: DiscordOptions): Media => ({
  maxDownloadBytes,
  maxUploadBytes: options.max_upload_mb * 1024 * 1024,
  async open(media, signal) {
    if ((media.sizeBytes ?? 0) > maxDownloadBytes) throw tooLarge();
    const address = await findAddress(api, media, signal);
    if (!isTrusted(address, api.root)) throw new PlatformError('rejected', 'the file is not on a host of Discord');
    return streamOf(bounded(await api.download(address, signal), signal));
  },
});

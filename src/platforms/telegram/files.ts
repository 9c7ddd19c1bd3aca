import type { IncomingMessage } from 'node:http';
import { PlatformError } from '../../core/errors.ts';
import { streamOf } from '../../lib/stream-of.ts';
import type { Media } from '../contract.ts';
import type { TelegramApi } from './api.ts';
import { classifyDescription } from './errors.ts';
import { maxUploadBytes } from './uploads.ts';
import { record, text } from './wire.ts';

/** The public Bot API gives out nothing larger. */
const maxDownloadBytes = 20 * 1024 * 1024;

const tooLarge = (): PlatformError => new PlatformError('too_large', `the file has more than ${maxDownloadBytes} bytes`);

const gone = (): PlatformError => new PlatformError('not_found', 'Telegram no longer has the file', { missing: 'file' });

/** The length that was announced, of an answer worth reading. */
const announced = (response: IncomingMessage): number | undefined => {
  const status = response.statusCode ?? 0;
  if (status === 404) throw gone();
  if (status !== 200) throw new PlatformError(classifyDescription(status, 'download refused').code, `download: HTTP ${status}`);
  const length = response.headers['content-length'];
  if (length === undefined) return undefined;
  if (Number(length) > maxDownloadBytes) throw tooLarge();
  return Number(length);
};

/** Counts what really arrives: the announced size is only a promise. Leaving it early ends the connection. */
async function* bounded(response: IncomingMessage, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  try {
    const expected = announced(response);
    for await (const chunk of response) {
      bytes += chunk.byteLength;
      if (bytes > maxDownloadBytes) throw tooLarge();
      yield chunk;
    }
    if (expected !== undefined && bytes < expected) throw new PlatformError('unavailable', 'the download ended early');
  } catch (cause) {
    if (cause instanceof PlatformError) throw cause;
    throw signal.aborted ? new PlatformError('aborted', 'aborted') : new PlatformError('unavailable', 'the download was cut', { cause });
  } finally {
    response.destroy();
  }
}

/** Files of events. A file id stays good; the path behind it is asked for anew each time, because it expires after an hour. */
export const newMedia = (api: TelegramApi): Media => ({
  maxDownloadBytes,
  maxUploadBytes,
  async open(media, signal) {
    if ((media.sizeBytes ?? 0) > maxDownloadBytes) throw tooLarge();
    const file = record(await api.repeatable('account', signal, (raw, s) => raw.getFile({ file_id: String(media.ref['file_id']) }, s)));
    const path = text(file?.['file_path']);
    if (path === undefined) throw gone();
    return streamOf(bounded(await api.openFile(path, signal), signal));
  },
});

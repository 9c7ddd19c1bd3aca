import { PlatformError } from '../../core/errors.ts';
import type { MediaRef } from '../../core/message.ts';
import { streamOf } from '../../lib/stream-of.ts';
import type { Media } from '../contract.ts';
import type { MatrixApi } from './api.ts';
import { decryptFile } from './encrypted-file.ts';

const gone = (): PlatformError => new PlatformError('not_found', 'the homeserver does not have the file', { missing: 'file' });

/** Counts what really arrives: the announced size is only a promise. Leaving it early ends the connection. */
async function* bounded(response: Response, maxBytes: number, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  const tooLarge = (): PlatformError => new PlatformError('too_large', `the file has more than ${maxBytes} bytes`);
  const announced = response.headers.get('content-length');
  let bytes = 0;
  try {
    if (announced !== null && Number(announced) > maxBytes) throw tooLarge();
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw tooLarge();
      yield chunk;
    }
    if (announced !== null && response.headers.get('content-encoding') === null && bytes < Number(announced)) throw new PlatformError('unavailable', 'the download ended early');
  } catch (cause) {
    if (cause instanceof PlatformError) throw cause;
    throw signal.aborted ? new PlatformError('aborted', 'aborted') : new PlatformError('unavailable', 'the download was cut', { cause });
  }
}

const addressOf = ({ ref }: MediaRef): readonly [server: string, id: string] => {
  const [, server, id] = /^mxc:\/\/([^/]+)\/([\w-]+)$/.exec(String(ref['url'])) ?? [];
  if (server === undefined || id === undefined) throw gone();
  return [server, id];
};

/** Files of messages, decrypted where the message says how. */
export const newMedia = (api: Pick<MatrixApi, 'download'>, maxBytes: number): Media => ({
  maxDownloadBytes: maxBytes,
  maxUploadBytes: maxBytes,
  async open(media, signal) {
    if ((media.sizeBytes ?? 0) > maxBytes) throw new PlatformError('too_large', `the file has more than ${maxBytes} bytes`);
    const [server, id] = addressOf(media);
    const source = bounded(await api.download(server, id, signal), maxBytes, signal);
    const { key, iv, sha256 } = media.ref;
    const isPlain = typeof key !== 'string' || typeof iv !== 'string' || typeof sha256 !== 'string';
    return streamOf(isPlain ? source : decryptFile(source, { key, iv, sha256 }));
  },
});

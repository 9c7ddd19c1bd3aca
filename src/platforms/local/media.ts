import { open } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { PlatformError } from '../../core/errors.ts';
import type { Media } from '../contract.ts';

const maxBytes = 512 * 1024 * 1024;
const missing = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP']);

/** Files that somebody at a terminal has named. Whoever can open the socket may read them anyway: they are the same user. */
export const localMedia: Media = {
  maxDownloadBytes: maxBytes,
  maxUploadBytes: maxBytes,
  async open({ ref }) {
    const path = String(ref['path'] ?? '');
    if (!isAbsolute(path)) throw new PlatformError('not_found', 'this is not the path of a file', { missing: 'file' });
    try {
      const handle = await open(path);
      if ((await handle.stat()).isFile()) return handle.readableWebStream({ autoClose: true }) as ReadableStream<Uint8Array>;
      await handle.close();
    } catch (error) {
      if (!missing.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
      throw new PlatformError('not_found', 'the file is gone', { missing: 'file', cause: error });
    }
    throw new PlatformError('not_found', 'this is not a file', { missing: 'file' });
  },
};

import { PlatformError } from '../../core/errors.ts';
import type { Media } from '../contract.ts';
import { maxUploadBytes } from './uploads.ts';
import { record, text } from './wire.ts';
import type { Workspace, Workspaces } from './workspaces.ts';

const maxDownloadBytes = 100 * 1024 * 1024;

const tooLarge = (): PlatformError => new PlatformError('too_large', `the file has more than ${maxDownloadBytes} bytes`);

const gone = (): PlatformError => new PlatformError('not_found', 'Slack no longer has the file', { missing: 'file' });

/** Without the right to read files Slack shows its login page instead of the file. */
const noRight = (): PlatformError => new PlatformError('rejected', 'download: Slack wants a login; add the scope files:read under OAuth & Permissions and install the app again');

const check = async (response: Response, mime: string): Promise<ReadableStream<Uint8Array>> => {
  const type = response.headers.get('content-type') ?? '';
  const isLogin = (response.status >= 300 && response.status < 400) || (type.startsWith('text/html') && !mime.startsWith('text/'));
  const length = Number(response.headers.get('content-length') ?? 0);
  if (response.status === 200 && !isLogin && length <= maxDownloadBytes && response.body !== null) return response.body;
  await response.body?.cancel();
  if (response.status === 404 || response.status === 410) throw gone();
  if (isLogin || response.status === 401 || response.status === 403) throw noRight();
  if (response.status === 200) throw tooLarge();
  throw new PlatformError('unavailable', `download: HTTP ${response.status}`);
};

/** Counts what really arrives: the announced size is only a promise. */
const bounded = (body: ReadableStream<Uint8Array>, signal: AbortSignal): ReadableStream<Uint8Array> => {
  const reader = body.getReader();
  let bytes = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          return;
        }
        bytes += value.byteLength;
        if (bytes > maxDownloadBytes) throw tooLarge();
        controller.enqueue(value);
      } catch (cause) {
        if (cause instanceof PlatformError) {
          await reader.cancel();
          throw cause;
        }
        throw signal.aborted ? new PlatformError('aborted', 'aborted') : new PlatformError('unavailable', 'the download was cut');
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
};

/** Files of events. Their id stays good; the address behind it is asked for anew each time. */
export const newMedia = (workspaces: Workspaces): Media => {
  const workspaceOf = async (teamId: unknown, signal: AbortSignal): Promise<Workspace> => {
    const found = (await workspaces.all(signal)).find((workspace) => workspace.teamId === teamId);
    if (found === undefined) throw gone();
    return found;
  };
  return {
    maxDownloadBytes,
    maxUploadBytes,
    async open(media, signal) {
      if ((media.sizeBytes ?? 0) > maxDownloadBytes) throw tooLarge();
      const { api } = await workspaceOf(media.ref['team'], signal);
      const file = record((await api.repeatable('files.info', { file: String(media.ref['file']) }, signal))['file']);
      const url = text(file?.['url_private_download']) ?? text(file?.['url_private']);
      if (url === undefined) throw gone();
      return bounded(await check(await api.download(url, signal), media.mime), signal);
    },
  };
};

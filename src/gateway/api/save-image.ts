import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolError } from '../../agent/tools/contract.ts';
import type { Attachment } from '../../core/transcript.ts';
import type { FetchImage } from '../../delivery/fetch-image.ts';
import { sessionMedia } from '../../sessions/attachments.ts';

export interface ImageDeps {
  readonly mediaFolder: string;
  readonly fetchImage: FetchImage;
}

const extensions: Readonly<Record<string, string>> = { 'image/png': '.png', 'image/jpeg': '.jpg', 'image/gif': '.gif', 'image/webp': '.webp' };

const dataUrl = /^data:(image\/[a-z0-9.+-]+)((?:;[\w=-]+)*),(.*)$/is;

const readDataUrl = (url: string): { readonly bytes: Uint8Array; readonly mime: string } | undefined => {
  const [, mime, parameters = '', data = ''] = dataUrl.exec(url) ?? [];
  if (mime === undefined || !parameters.toLowerCase().endsWith(';base64')) return undefined;
  return { bytes: Buffer.from(data, 'base64'), mime: mime.toLowerCase() };
};

/**
 * Keeps a picture that a call has brought or named, in the folder of its conversation, once however often it is sent. Undefined when it is neither a `data:` nor an
 * `http` address of a picture that can be had.
 */
export const saveImage = async (deps: ImageDeps, image: { readonly sessionId: string; readonly url: string }, signal: AbortSignal): Promise<Attachment | undefined> => {
  const found = await readImage(deps, image.url, signal);
  const extension = extensions[found?.mime ?? ''];
  if (found === undefined || extension === undefined || found.bytes.byteLength === 0) return undefined;
  const name = `${createHash('sha256').update(found.bytes).digest('hex').slice(0, 32)}${extension}`;
  const place = sessionMedia(image.sessionId);
  await mkdir(join(deps.mediaFolder, place), { recursive: true, mode: 0o700 });
  await writeFile(join(deps.mediaFolder, place, name), found.bytes, { mode: 0o600 });
  return { kind: 'photo', mime: found.mime, name, path: join(place, name) };
};

const readImage = async (deps: ImageDeps, url: string, signal: AbortSignal): Promise<{ readonly bytes: Uint8Array; readonly mime: string } | undefined> => {
  if (!/^https?:\/\//i.test(url)) return readDataUrl(url);
  try {
    return await deps.fetchImage(url, signal);
  } catch (error) {
    if (error instanceof ToolError) return undefined;
    throw error;
  }
};

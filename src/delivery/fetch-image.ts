import { ToolError } from '../agent/tools/contract.ts';
import type { Lookup } from '../agent/tools/web/checked-url.ts';
import { fetchPage, systemLookup } from '../agent/tools/web/fetch-page.ts';
import type { WebOptions } from '../agent/tools/web/options.ts';
import type { Clock } from '../lib/clock.ts';

export interface FetchedImage {
  readonly bytes: Uint8Array;
  readonly mime: string;
}

/** Gets a picture from the web, guarded like every page; rejects with a `ToolError` when there is none. */
export type FetchImage = (url: string, signal: AbortSignal) => Promise<FetchedImage>;

const maxBytes = 10 * 1024 * 1024;

export const newFetchImage =
  (options: () => WebOptions, { clock, lookup = systemLookup }: { readonly clock: Clock; readonly lookup?: Lookup }): FetchImage =>
  async (url, signal) => {
    const settings = options();
    const page = await fetchPage(url, { settings, limits: { maxBytes, timeoutMs: settings.timeout_ms }, lookup, clock }, signal);
    const mime = page.contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
    if (!/^image\/(?:png|jpeg|gif|webp|bmp)$/.test(mime)) throw new ToolError('failed', `${page.url.host} did not answer with a picture.`);
    if (page.cut) throw new ToolError('failed', `The picture is larger than ${maxBytes / 1024 / 1024} MB.`);
    return { bytes: page.bytes, mime };
  };

import { lookup as dnsLookup } from 'node:dns/promises';
import type { Clock } from '../../../lib/clock.ts';
import { ToolError } from '../contract.ts';
import { checkedAddresses, parseWebUrl } from './checked-url.ts';
import type { Address, HostSettings, Lookup } from './checked-url.ts';
import { guardedGet, readBody } from './guarded-get.ts';

export interface Page {
  /** After redirects. */
  readonly url: URL;
  readonly contentType: string;
  readonly bytes: Uint8Array;
  readonly cut: boolean;
}

export interface FetchLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

export interface FetchRun {
  readonly settings: HostSettings;
  readonly limits: FetchLimits;
  readonly lookup: Lookup;
  readonly clock: Clock;
}

const maxRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** What the system says about a name. */
export const systemLookup: Lookup = async (name) => (await dnsLookup(name, { all: true })).map(({ address, family }): Address => ({ address, family: family === 6 ? 6 : 4 }));

/** A name server that does not answer is not waited for longer than anything else. */
const orAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });

const get = async (start: URL, { settings, limits, lookup }: FetchRun, signal: AbortSignal): Promise<Page> => {
  let url = start;
  for (let hops = 0; hops <= maxRedirects; hops += 1) {
    const response = await guardedGet(url, await orAborted(checkedAddresses(url, settings, lookup), signal), signal);
    const status = response.statusCode ?? 0;
    const location = response.headers.location;
    if (redirects.has(status) && location !== undefined) {
      response.destroy();
      const next = URL.parse(location, url);
      if (next === null) throw new ToolError('failed', `${url.host} sent us to an address that is none.`);
      url = parseWebUrl(next.href, settings);
      continue;
    }
    if (status < 200 || status > 299) {
      response.destroy();
      throw new ToolError('failed', `${url.host} answered with status ${status}.`);
    }
    return { url, contentType: response.headers['content-type'] ?? '', ...(await readBody(response, limits.maxBytes, signal)) };
  }
  throw new ToolError('failed', `${start.host} redirects more than ${maxRedirects} times.`);
};

/** Runs work that must end in time; the signal it gets is aborted then. */
export const inTime = async <T>(at: { readonly clock: Clock; readonly timeoutMs: number; readonly what: string }, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const settled = new AbortController();
  const late = new AbortController();
  const timer = at.clock.sleep(at.timeoutMs, AbortSignal.any([signal, settled.signal])).then(
    () => late.abort(new ToolError('failed', `${at.what} did not answer within ${at.timeoutMs / 1000} seconds.`)),
    () => undefined,
  );
  try {
    return await work(AbortSignal.any([signal, late.signal]));
  } finally {
    settled.abort();
    await timer;
  }
};

/** Gets a page. Each address on the way, the first and every redirect, is checked and connected to exactly as checked. */
export const fetchPage = (address: string, run: FetchRun, signal: AbortSignal): Promise<Page> => {
  const url = parseWebUrl(address, run.settings);
  return inTime({ clock: run.clock, timeoutMs: run.limits.timeoutMs, what: url.host }, signal, (timed) => get(url, run, timed));
};

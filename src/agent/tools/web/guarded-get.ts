import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { pipeline } from 'node:stream';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ToolError } from '../contract.ts';
import type { Address } from './checked-url.ts';

/** No connection is kept: each one was checked for one request. */
const httpAgent = new HttpAgent({ keepAlive: false });
const httpsAgent = new HttpsAgent({ keepAlive: false });

const headers = {
  'user-agent': 'Mozilla/5.0 (compatible; HermesGateway/0.1)',
  'accept': 'text/markdown, text/html;q=0.9, application/json;q=0.8, text/plain;q=0.8, */*;q=0.5',
  'accept-language': 'en;q=0.9, *;q=0.5',
  'accept-encoding': 'gzip, deflate, br',
};

/** Answers what was resolved and checked before, whatever is asked. */
const pinnedLookup =
  (addresses: readonly Address[]): LookupFunction =>
  (_hostname, options, callback) => {
    const [first] = addresses;
    if (options.all) callback(null, addresses.map(({ address, family }) => ({ address, family })));
    else if (first !== undefined) callback(null, first.address, first.family);
  };

const codeOf = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : error.name);

/** One GET to one of the given addresses, without following redirects. Rejects with a `ToolError`, or with the signal's reason. */
export const guardedGet = (url: URL, addresses: readonly Address[], signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const secure = url.protocol === 'https:';
    const options: RequestOptions = { method: 'GET', headers, agent: secure ? httpsAgent : httpAgent, lookup: pinnedLookup(addresses), signal };
    const outgoing = (secure ? httpsRequest : httpRequest)(url, options, resolve);
    outgoing.on('error', (error) => reject(signal.aborted ? signal.reason : new ToolError('failed', `${url.host} could not be reached (${codeOf(error)}).`, { cause: error })));
    outgoing.end();
  });

const decoded = (response: IncomingMessage): Readable => {
  const ignore = (): void => undefined;
  switch (response.headers['content-encoding']?.toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return pipeline(response, createGunzip(), ignore);
    case 'deflate':
      return pipeline(response, createInflate(), ignore);
    case 'br':
      return pipeline(response, createBrotliDecompress(), ignore);
    default:
      return response;
  }
};

export interface Body {
  readonly bytes: Uint8Array;
  /** There was more. */
  readonly cut: boolean;
}

/** Reads so many bytes at most, counted after unpacking, so that a small download cannot become a large one. */
export const readBody = async (response: IncomingMessage, maxBytes: number, signal: AbortSignal): Promise<Body> => {
  const stream = decoded(response);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxBytes) break;
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!(error instanceof Error)) throw error;
    throw new ToolError('failed', `The answer broke off (${codeOf(error)}).`, { cause: error });
  } finally {
    response.destroy();
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), cut: size > maxBytes };
};

import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { boundaryOf, partsOf } from '../../simulator-multipart.ts';

export interface UploadedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** What a call carries, before it is known which type each parameter should have. */
export interface CallBody {
  readonly params: Readonly<Record<string, unknown>>;
  readonly files: ReadonlyMap<string, UploadedFile>;
}

const noFiles: ReadonlyMap<string, UploadedFile> = new Map();

const parseForm = (body: Buffer, boundary: string): CallBody => {
  const params: Record<string, unknown> = {};
  const files = new Map<string, UploadedFile>();
  for (const { name, fileName, content } of partsOf(body, boundary)) {
    if (fileName === undefined) params[name] = content.toString('utf8');
    else files.set(name, { name: fileName, bytes: new Uint8Array(content) });
  }
  return { params, files };
};

/** Reads what Telegram accepts: JSON, a form, a multipart form, or the query of the address. */
export const readBody = async (request: IncomingMessage, query: URLSearchParams): Promise<CallBody> => {
  const body = await buffer(request);
  const type = request.headers['content-type'] ?? '';
  const boundary = boundaryOf(type);
  if (boundary !== undefined) return parseForm(body, boundary);
  if (type.startsWith('application/json') && body.length > 0) return { params: JSON.parse(body.toString('utf8')) as Record<string, unknown>, files: noFiles };
  return { params: Object.fromEntries([...query, ...new URLSearchParams(body.toString('utf8'))]), files: noFiles };
};

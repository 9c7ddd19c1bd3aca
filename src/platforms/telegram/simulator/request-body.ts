import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';

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

const parseMultipart = (body: Buffer, boundary: string): CallBody => {
  const params: Record<string, unknown> = {};
  const files = new Map<string, UploadedFile>();
  const delimiter = Buffer.from(`--${boundary}`);
  for (let from = body.indexOf(delimiter); from !== -1; ) {
    const start = from + delimiter.length;
    const next = body.indexOf(delimiter, start);
    if (next === -1) break;
    const part = body.subarray(start + 2, next - 2);
    const split = part.indexOf('\r\n\r\n');
    const head = part.subarray(0, split).toString('utf8');
    const content = part.subarray(split + 4);
    const name = /name="([^"]*)"/i.exec(head)?.[1] ?? '';
    const fileName = /filename="?([^"\r\n]*)"?/i.exec(head)?.[1];
    if (fileName === undefined) params[name] = content.toString('utf8');
    else files.set(name, { name: fileName, bytes: new Uint8Array(content) });
    from = next;
  }
  return { params, files };
};

/** Reads what Telegram accepts: JSON, a form, a multipart form, or the query of the address. */
export const readBody = async (request: IncomingMessage, query: URLSearchParams): Promise<CallBody> => {
  const body = await buffer(request);
  const type = request.headers['content-type'] ?? '';
  const boundary = /boundary=(?:"([^"]+)"|([^;]+))/.exec(type);
  if (boundary !== null) return parseMultipart(body, boundary[1] ?? boundary[2] ?? '');
  if (type.startsWith('application/json') && body.length > 0) return { params: JSON.parse(body.toString('utf8')) as Record<string, unknown>, files: noFiles };
  return { params: Object.fromEntries([...query, ...new URLSearchParams(body.toString('utf8'))]), files: noFiles };
};

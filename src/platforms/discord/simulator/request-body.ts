import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { record } from '../wire.ts';
import type { Json } from '../wire.ts';

export interface UploadedFile {
  readonly name: string;
  readonly mime: string;
  readonly bytes: Uint8Array;
}

export interface CallBody {
  readonly json: unknown;
  readonly fields: Json;
  /** By the number in the name of their field. */
  readonly files: ReadonlyMap<number, UploadedFile>;
}

const parseMultipart = (body: Buffer, boundary: string): CallBody => {
  let json: unknown;
  const files = new Map<number, UploadedFile>();
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
    const number = /^files\[(\d+)\]$/.exec(name)?.[1];
    if (name === 'payload_json') json = JSON.parse(content.toString('utf8'));
    else if (number !== undefined) files.set(Number(number), { name: /filename="([^"]*)"/i.exec(head)?.[1] ?? 'file', mime: /content-type: *([^\r\n]+)/i.exec(head)?.[1] ?? 'application/octet-stream', bytes: new Uint8Array(content) });
    from = next;
  }
  return { json, fields: record(json) ?? {}, files };
};

/** Reads what Discord accepts: JSON, or a form of JSON and files. */
export const readBody = async (request: IncomingMessage): Promise<CallBody> => {
  const body = await buffer(request);
  const boundary = /boundary=(?:"([^"]+)"|([^;]+))/.exec(request.headers['content-type'] ?? '');
  if (boundary !== null) return parseMultipart(body, boundary[1] ?? boundary[2] ?? '');
  const json: unknown = body.length === 0 ? undefined : JSON.parse(body.toString('utf8'));
  return { json, fields: record(json) ?? {}, files: new Map() };
};

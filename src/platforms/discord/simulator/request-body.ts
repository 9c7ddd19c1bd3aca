import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { boundaryOf, partsOf } from '../../simulator-multipart.ts';
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

const parseForm = (body: Buffer, boundary: string): CallBody => {
  let json: unknown;
  const files = new Map<number, UploadedFile>();
  for (const { name, fileName = 'file', mime = 'application/octet-stream', content } of partsOf(body, boundary)) {
    const number = /^files\[(\d+)\]$/.exec(name)?.[1];
    if (name === 'payload_json') json = JSON.parse(content.toString('utf8'));
    else if (number !== undefined) files.set(Number(number), { name: fileName, mime, bytes: new Uint8Array(content) });
  }
  return { json, fields: record(json) ?? {}, files };
};

/** Reads what Discord accepts: JSON, or a form of JSON and files. */
export const readBody = async (request: IncomingMessage): Promise<CallBody> => {
  const body = await buffer(request);
  const boundary = boundaryOf(request.headers['content-type'] ?? '');
  if (boundary !== undefined) return parseForm(body, boundary);
  const json: unknown = body.length === 0 ? undefined : JSON.parse(body.toString('utf8'));
  return { json, fields: record(json) ?? {}, files: new Map() };
};

import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';

/** A file on its way out, of known size. */
export interface FilePart {
  readonly path: string;
  /** Without quotes and line breaks, which would end the header that it stands in; so is the type. */
  readonly name: string;
  readonly mime: string;
  readonly sizeBytes: number;
}

export interface Multipart {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

/** A form of JSON and files as Discord wants it. Files are read while they are sent, never as a whole. */
export const newMultipart = (payload: unknown, files: readonly FilePart[]): Multipart => {
  const boundary = `hermes-${randomBytes(12).toString('hex')}`;
  const head = (name: string, more: string): string => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`;
  const json = `${head('payload_json', '\r\ncontent-type: application/json')}${JSON.stringify(payload)}\r\n`;
  const heads = files.map((file, index) => head(`files[${index}]`, `; filename="${file.name}"\r\ncontent-type: ${file.mime}`));
  const end = `--${boundary}--\r\n`;
  const sizeBytes = [json, ...heads, end].reduce((sum, part) => sum + Buffer.byteLength(part), 0) + files.reduce((sum, file) => sum + file.sizeBytes + 2, 0);
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(json);
    for (const [index, file] of files.entries()) {
      yield Buffer.from(heads[index] ?? '');
      yield* createReadStream(file.path) as AsyncIterable<Buffer>;
      yield Buffer.from('\r\n');
    }
    yield Buffer.from(end);
  }
  return { headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, 'content-length': String(sizeBytes) }, body: Readable.from(parts(), { objectMode: false }) };
};

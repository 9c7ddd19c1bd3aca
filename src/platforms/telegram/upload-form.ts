import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';

/** A file that goes with a call. */
export interface AttachedFile {
  readonly path: string;
  /** Without quotes and line breaks, which would end the header that it stands in. */
  readonly name: string;
}

export interface UploadForm {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

const partName = (index: number): string => `file${index}`;

/** What stands in a payload for the file with this number. */
export const attached = (index: number): string => `attach://${partName(index)}`;

/** A payload and its files as Telegram wants them. Files are read while they are sent, never as a whole. */
export const newUploadForm = (payload: object, files: readonly AttachedFile[]): UploadForm => {
  const boundary = `hermes-${randomBytes(12).toString('hex')}`;
  const head = (name: string, more = ''): string => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`;
  const field = ([name, value]: [string, unknown]): string => (value === undefined ? '' : `${head(name)}${typeof value === 'object' ? JSON.stringify(value) : String(value)}\r\n`);
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(Object.entries(payload).map(field).join(''));
    for (const [index, file] of files.entries()) {
      yield Buffer.from(head(partName(index), `; filename="${file.name}"\r\ncontent-type: application/octet-stream`));
      yield* createReadStream(file.path) as AsyncIterable<Buffer>;
      yield Buffer.from('\r\n');
    }
    yield Buffer.from(`--${boundary}--\r\n`);
  }
  return { headers: { 'content-type': `multipart/form-data; boundary=${boundary}` }, body: Readable.from(parts(), { objectMode: false }) };
};

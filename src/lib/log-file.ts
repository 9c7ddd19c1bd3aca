import { createWriteStream, existsSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import type { WriteStream } from 'node:fs';
import { dirname } from 'node:path';
import { endsInLine } from './ends-in-line.ts';

export interface LogFile {
  /** Never throws: a disk that is full must not end the gateway. What cannot be written is lost, and the next line tries again. */
  write(line: string): void;
  close(): Promise<void>;
}

const ended = (stream: WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.closed) resolve();
    stream.once('close', () => resolve());
    stream.end();
  });

/** Makes room at `path`: what is there becomes the first of `keep` older files. */
const shift = (path: string, keep: number): void => {
  if (keep === 0) rmSync(path, { force: true });
  for (let i = keep - 1; i >= 0; i -= 1) {
    const from = i === 0 ? path : `${path}.${i}`;
    if (existsSync(from)) renameSync(from, `${path}.${i + 1}`);
  }
};

/** The file that is being written. */
interface Opened {
  readonly stream: WriteStream;
  /** What stands in it and what is on its way there. Asked anew after a failure: lines that were not written do not fill it. */
  bytes: number;
}

/** A file that keeps its newest `maxBytes`, and as much again in each of `keep` older files. */
export const openLogFile = (path: string, limits: { maxBytes: number; keep: number }): LogFile => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const ending = new Set<Promise<void>>();
  let opened: Opened | undefined;

  /** Opens at once, not when the event loop gets to it: the file has to be there when it is to be moved. Undefined when it cannot be. */
  const open = (): Opened | undefined => {
    try {
      const fd = openSync(path, 'a+', 0o600);
      const { size } = statSync(path);
      const stream = createWriteStream(path, { fd });
      // What has failed is known by that: it is destroyed, and not written to again.
      stream.on('error', () => undefined);
      if (!endsInLine(fd)) stream.write('\n');
      return { stream, bytes: size };
    } catch {
      return undefined;
    }
  };

  /** False when the old lines could not be moved away; then the line is lost, for the file must not grow without end. */
  const rotate = ({ stream }: Opened): boolean => {
    const done = ended(stream).then(() => void ending.delete(done));
    ending.add(done);
    opened = undefined;
    try {
      shift(path, limits.keep);
      return true;
    } catch {
      return false;
    }
  };

  return {
    write(line) {
      const bytes = Buffer.byteLength(line);
      if (opened?.stream.destroyed !== false) opened = open();
      if (opened !== undefined && opened.bytes > 0 && opened.bytes + bytes > limits.maxBytes) {
        if (!rotate(opened)) return;
        opened = open();
      }
      if (opened === undefined) return;
      opened.bytes += bytes;
      opened.stream.write(line);
    },
    async close() {
      await Promise.all([...ending, ...(opened === undefined ? [] : [ended(opened.stream)])]);
    },
  };
};

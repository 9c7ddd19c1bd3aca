import { createWriteStream, mkdirSync, renameSync, statSync } from 'node:fs';
import type { WriteStream } from 'node:fs';
import { dirname } from 'node:path';

export interface LogFile {
  write(line: string): void;
  close(): Promise<void>;
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** A file that keeps its newest `maxBytes`, and as much again in each of `keep` older files. */
export const openLogFile = (path: string, limits: { maxBytes: number; keep: number }): LogFile => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let size = sizeOf(path);
  let failed = false;
  const open = (): WriteStream => {
    const stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
    // A full disk must not end the gateway; lines are lost and said to be so on the terminal by whoever runs it.
    stream.on('error', () => {
      failed = true;
    });
    return stream;
  };
  let stream = open();

  const rotate = (): void => {
    stream.end();
    for (let i = limits.keep - 1; i >= 1; i -= 1) if (sizeOf(`${path}.${i}`) > 0) renameSync(`${path}.${i}`, `${path}.${i + 1}`);
    if (limits.keep > 0) renameSync(path, `${path}.1`);
    size = 0;
    stream = open();
  };

  return {
    write(line) {
      if (failed) {
        failed = false;
        stream = open();
      }
      const bytes = Buffer.byteLength(line);
      if (size + bytes > limits.maxBytes && size > 0) rotate();
      size += bytes;
      stream.write(line);
    },
    close: () => new Promise((resolve) => stream.end(() => resolve())),
  };
};

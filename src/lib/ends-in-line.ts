import { fstatSync, readSync } from 'node:fs';

/** Whether what is added to an open file begins a new line. It does not where the disk was full, or the process was killed, in the middle of the last one. */
export const endsInLine = (file: number): boolean => {
  const { size } = fstatSync(file);
  const last = Buffer.alloc(1);
  return size === 0 || readSync(file, last, 0, 1, size - 1) !== 1 || last[0] === 0x0a;
};

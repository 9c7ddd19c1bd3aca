import { StoreError } from '../core/errors.ts';

const outOfFiles: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE']);

/** What puts a turn down until it is tried again: a failure of the store and, like a database that is away, no more files to open. Undefined for a fault of ours. */
export const storeTrouble = (error: unknown): StoreError | undefined => {
  if (error instanceof StoreError) return error;
  const isOut = error instanceof Error && 'code' in error && outOfFiles.has(String(error.code));
  return isOut ? new StoreError('unavailable', 'no more files can be opened', { cause: error }) : undefined;
};

import { randomBytes } from 'node:crypto';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { pruneFolder, removeIfEmpty } from '../../lib/prune-folder.ts';
import type { FolderLimits } from '../../lib/prune-folder.ts';
import { boundResult, maxResultChars } from './bound-result.ts';

const allResults = (home: string): string => join(home, 'cache', 'results');
const safeName = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 80) || '_';

/** Where the long results of one conversation are kept; only its own tools may read there. */
export const resultsFolder = (home: string, sessionId: string): string => join(allResults(home), safeName(sessionId));

export interface SpillOptions {
  readonly home: string;
  readonly sessionId: string;
  readonly callId: string;
  /** Longest result that goes into a transcript; 100,000 characters when left out. */
  readonly maxChars?: number;
}

/** What is shown of a result that lies in a file. */
const previewChars = 10_000;

const codeOf = (error: unknown): string | undefined => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined);

const keep = async (text: string, { home, sessionId, callId }: SpillOptions): Promise<string> => {
  const folder = resultsFolder(home, sessionId);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${safeName(callId)}-${randomBytes(4).toString('hex')}.txt`);
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text, 'utf8');
  } finally {
    await file.close();
  }
  return path;
};

/**
 * A tool's result as it goes into the transcript. One that is too long is kept in a file, and its beginning and end are shown together with
 * the path, so that the rest can be read piece by piece. Secrets are to be gone from it before.
 */
export const spillResult = async (text: string, options: SpillOptions): Promise<string> => {
  const maxChars = options.maxChars ?? maxResultChars;
  if (text.length <= maxChars) return text.toWellFormed();
  try {
    const path = await keep(text.toWellFormed(), options);
    const note = `[The result has ${text.length} characters. All of it is in ${path}: read it in parts with read_file, or search it with search_files. Its beginning and end:]`;
    return `${note}\n${boundResult(text, Math.max(200, Math.min(previewChars, maxChars - note.length - 1)))}`;
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    const note = `[The result has ${text.length} characters and could not be kept in a file (${code}). Its beginning and end:]`;
    return `${note}\n${boundResult(text, maxChars - note.length - 1)}`;
  }
};

export const defaultSpillRetention: FolderLimits = { maxAgeMs: 7 * 86_400_000, maxBytes: 500 * 1024 * 1024 };

/** Removes kept results that are too old, then the oldest until the rest fits. Answers how many files went. */
export const pruneSpilledResults = async (home: string, limits: FolderLimits, at: { readonly nowMs: number; readonly signal: AbortSignal }): Promise<number> => {
  const { removed, folders } = await pruneFolder(allResults(home), limits, at);
  for (const folder of folders) await removeIfEmpty(folder);
  return removed;
};

import type { FileIdentity } from './guarded-files.ts';
import type { PathPolicy } from './path-policy.ts';

/** What the searching thread is given. */
export interface SearchRequest {
  /** A real path, file or folder. */
  readonly root: string;
  readonly target: 'content' | 'files';
  /** For `content` a regular expression, for `files` a pattern of file names. */
  readonly pattern: string;
  readonly ignoreCase: boolean;
  readonly fileGlob: string | undefined;
  readonly output: 'content' | 'files_only' | 'count';
  /** Lines around each match. */
  readonly context: number;
  /** Matches to pass over, and then to report. */
  readonly offset: number;
  readonly limit: number;
  readonly policy: PathPolicy;
  readonly guarded: ReadonlyMap<FileIdentity, string>;
}

/** A line of a file, or a file. */
export type SearchRow =
  | { readonly type: 'line'; readonly path: string; readonly line: number; readonly text: string; readonly match: boolean }
  | { readonly type: 'file'; readonly path: string; readonly count: number; readonly mtimeMs: number };

/** What it says while it works, and once at the end. */
export type SearchMessage =
  | { readonly type: 'rows'; readonly rows: readonly SearchRow[] }
  | { readonly type: 'end'; readonly files: number; readonly unreadable: number; readonly more: boolean };

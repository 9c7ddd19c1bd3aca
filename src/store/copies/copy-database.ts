import { chmodSync, closeSync, openSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { sqliteError } from '../engines/sqlite-dialect.ts';
import { damaged, openForReading } from '../engines/sqlite-file.ts';
import { damageOf, openUnchanged, sqliteVersion } from '../inspect.ts';

export interface CopyOptions {
  onProgress?(done: number, total: number): void;
  readonly signal?: AbortSignal | undefined;
}

/** One megabyte of usual pages: whoever else works on the file never waits for more than that. */
const pagesPerStep = 256;

/**
 * Copies a database as it is at this moment into a new file for its owner alone, while others may write to it. Answers the version of its schema.
 * The transaction keeps the moment: without it every write of another process would make the copy begin anew.
 */
export const copyDatabase = async (from: string, to: string, options: CopyOptions = {}): Promise<number> => {
  let source: DatabaseSync | undefined;
  try {
    source = openForReading(from);
    source.exec('begin');
    const version = sqliteVersion(source);
    closeSync(openSync(to, 'wx', 0o600));
    const progress = ({ totalPages, remainingPages }: { readonly totalPages: number; readonly remainingPages: number }): void => {
      options.signal?.throwIfAborted();
      options.onProgress?.(totalPages - remainingPages, totalPages);
    };
    await backup(source, to, { rate: pagesPerStep, progress });
    chmodSync(to, 0o600);
    return version;
  } catch (error) {
    if (options.signal?.aborted === true) throw error;
    throw sqliteError(error);
  } finally {
    source?.close();
  }
};

/** Reads a copy from end to end and answers the version of its schema, 0 when it is not ours. Throws a `StoreError` when it is damaged. */
export const readCopy = (path: string): number => {
  const db = openUnchanged(path);
  try {
    const damage = damageOf(db);
    if (damage !== undefined) throw damaged(path, damage);
    return sqliteVersion(db);
  } catch (error) {
    throw sqliteError(error);
  } finally {
    db.close();
  }
};

/** Reads a copy from end to end. Throws a `StoreError` when it is damaged, or not of this version. */
export const checkCopy = (path: string, version: number): void => {
  if (readCopy(path) !== version) throw damaged(path, 'it is not what was copied');
};

/** Takes out of a copy what accounts keep for themselves, logins among it, and leaves no trace in free pages. Accounts in `except` keep theirs. */
export const forgetAccountValues = (path: string, except: readonly string[]): void => {
  const db = new DatabaseSync(path);
  try {
    db.exec('pragma journal_mode = delete');
    db.prepare(`delete from account_values where account not in (${except.map(() => '?').join(', ')})`).run(...except);
    db.exec('vacuum');
  } catch (error) {
    throw sqliteError(error);
  } finally {
    db.close();
  }
};

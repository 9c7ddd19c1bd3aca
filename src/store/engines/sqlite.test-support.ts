import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import { SqliteStore } from './sqlite.ts';
import type { SqliteOptions } from './sqlite.ts';

export interface SqliteFile {
  readonly folder: string;
  readonly path: string;
  /** A store on the file, closed after the test. */
  open(options?: Partial<SqliteOptions>): SqliteStore;
}

/** For every test that follows in the calling file, a place for a database of its own, removed afterwards. */
export const sqliteFile = (): SqliteFile => {
  let folder = '';
  const opened: SqliteStore[] = [];
  const path = (): string => join(folder, 'gateway.db');
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hermes-sqlite-'));
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
    chmodSync(folder, 0o700);
    rmSync(folder, { recursive: true });
  });
  return {
    get folder() {
      return folder;
    },
    get path() {
      return path();
    },
    open(options = {}) {
      const store = new SqliteStore({ path: path(), clock: systemClock, checkIntegrity: true, ...options });
      opened.push(store);
      return store;
    },
  };
};

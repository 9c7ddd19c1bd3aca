import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../core/errors.ts';
import { sqliteError } from '../engines/sqlite-dialect.ts';
import { damageOf } from '../inspect.ts';

/** A row of another program's database. What a version of it does not have is null. */
export type ForeignRow = Readonly<Record<string, string | number | null>>;

/** A database of another program, as it was when it was opened. */
export interface ForeignDatabase extends AsyncDisposable {
  readonly db: DatabaseSync;
  has(table: string): boolean;
  /** The beginning of a query: `select` these columns `from` that table, with null for columns that are not there. */
  select(table: string, columns: readonly string[]): string;
}

const checked = (path: string, name: string): DatabaseSync => {
  const db = new DatabaseSync(path);
  try {
    const damage = damageOf(db);
    if (damage !== undefined) throw new StoreError('corrupt', `${name} cannot be read (${damage}). If the program that it belongs to is running, stop it and try again.`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
};

/** Opens a copy: even looking at a database of another program may change files beside it. Rejects with a `StoreError`. */
export const openForeignDatabase = async (path: string): Promise<ForeignDatabase> => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-import-'));
  try {
    const copy = join(folder, 'copy.db');
    await copyFile(path, copy);
    if (existsSync(`${path}-wal`)) await copyFile(`${path}-wal`, `${copy}-wal`);
    const db = checked(copy, basename(path));
    return {
      db,
      has: (table) => db.prepare("select 1 from sqlite_master where type = 'table' and name = ?").get(table) !== undefined,
      select(table, columns) {
        const there = new Set(db.prepare('select name from pragma_table_info(?)').all(table).map((row) => String(row['name'])));
        return `select ${columns.map((name) => (there.has(name) ? `"${name}"` : `null as "${name}"`)).join(', ')} from "${table}"`;
      },
      async [Symbol.asyncDispose]() {
        db.close();
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error instanceof StoreError || (error as NodeJS.ErrnoException).syscall !== undefined ? error : sqliteError(error);
  }
};

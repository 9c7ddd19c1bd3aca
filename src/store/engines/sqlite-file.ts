import { accessSync, chmodSync, closeSync, constants, existsSync, openSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../core/errors.ts';
import { newerSchema, pendingMigrations, schemaVersion } from '../migrations.ts';
import { sqliteError } from './sqlite-dialect.ts';

const busyMs = 5000;
const pauseMs = 10;

/** SQLite refuses the switch at once, without the usual waiting, while another process opens the same new file. */
const switchToWal = (db: DatabaseSync): void => {
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    try {
      db.exec('pragma journal_mode = wal');
      return;
    } catch (error) {
      if (sqliteError(error).code !== 'busy' || waitedMs >= busyMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    }
  }
};

const connect = (path: string, readOnly: boolean): DatabaseSync => {
  const db = new DatabaseSync(path, { readOnly, timeout: busyMs, enableForeignKeyConstraints: false });
  try {
    if (!readOnly) {
      switchToWal(db);
      // A commit must survive a power cut: an acknowledged message exists nowhere else.
      db.exec('pragma synchronous = full');
      // Otherwise what is deleted or replaced stays readable in the file until something else is written there, and erasing a person would leave it.
      db.exec('pragma secure_delete = on');
      db.exec('pragma wal_autocheckpoint = 2000');
      db.exec('pragma journal_size_limit = 67108864');
    }
    db.exec('pragma temp_store = memory');
    db.exec('pragma cache_size = -8192');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
};

const readVersion = (db: DatabaseSync): number => {
  const table = db.prepare("select 1 from sqlite_master where type = 'table' and name = 'meta'").get();
  if (table === undefined) return 0;
  const row = db.prepare("select value from meta where key = 'schema_version'").get();
  return row === undefined ? 0 : Number(row['value']);
};

const migrate = (db: DatabaseSync, path: string, through = schemaVersion): void => {
  if (readVersion(db) === through) return;
  db.exec('begin immediate');
  try {
    const version = readVersion(db);
    if (version > schemaVersion) throw newerSchema(path, version);
    db.exec('create table if not exists meta (key text primary key, value text not null)');
    for (const step of pendingMigrations(version, 'sqlite', through)) {
      for (const statement of step.statements) db.exec(statement);
      db.prepare("insert into meta (key, value) values ('schema_version', ?) on conflict (key) do update set value = excluded.value").run(String(step.version));
    }
    db.exec('commit');
  } catch (error) {
    if (db.isTransaction) db.exec('rollback');
    throw error;
  }
};

export const damaged = (path: string, detail: string, cause?: unknown): StoreError =>
  new StoreError(
    'corrupt',
    `${path} is damaged (${detail}). Stop every hermes process, keep a copy of the file, then either restore a backup or save what is readable with: sqlite3 '${path}' .recover | sqlite3 '${path}.recovered'`,
    { cause },
  );

const unwritable = (path: string, cause: unknown): StoreError =>
  new StoreError('unwritable', `${path} cannot be opened for writing. Check the owner and the permissions of the file and its folder.`, { cause });

/** Reading a larger file whole would hold the start up; of those, what the next start stands on is read. */
const checkedWholeBytes = 256 * 1024 * 1024;
const vitalTables = ['lanes', 'inbox', 'turns', 'outbox', 'bindings', 'accounts', 'cursors'];

const check = (db: DatabaseSync, path: string): void => {
  const pragmas = statSync(path).size <= checkedWholeBytes ? ['pragma quick_check(1)'] : vitalTables.map((table) => `pragma quick_check(${table})`);
  for (const pragma of pragmas) {
    const rows = db.prepare(pragma).all();
    const verdict = rows[0] === undefined ? 'no answer' : String(Object.values(rows[0])[0]);
    if (verdict !== 'ok') throw damaged(path, verdict.replaceAll(/\s+/g, ' '));
  }
};

/** Only a file that is not there yet may be opened by other means than SQLite's: closing it would drop every lock this process has on it. */
const createFile = (path: string): void => {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
};

/** SQLite would open a file it may not write for reading, and gives its -wal and -shm the mode that the file has. */
const prepareFile = (path: string): void => {
  try {
    createFile(path);
    accessSync(path, constants.R_OK | constants.W_OK);
    for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600);
  } catch (error) {
    throw unwritable(path, error);
  }
};

/** A log of this size is emptied and cut off; a smaller one is used again and again. */
const largeLogBytes = 16 * 1024 * 1024;

/** Of the search index, at a time. */
const mergedPages = 500;

/**
 * Joins parts of the search index and cuts a large log off; does not wait for whoever reads: then that is for the next time. Statistics for the planner are not
 * gathered: queries are written so that it finds their indexes without, and what it would learn from one long conversation makes it leave them.
 */
export const tidyFile = (db: DatabaseSync, path: string): { readonly freedBytes: number } => {
  db.prepare("insert into message_search (message_search, rank) values ('merge', ?)").run(mergedPages);
  const size = (): number => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const before = size();
  if (before < largeLogBytes) return { freedBytes: 0 };
  db.exec('pragma wal_checkpoint(truncate)');
  return { freedBytes: before - size() };
};

/** Takes everything over into the database and cuts the log off. False while somebody else reads or writes. */
export const emptyLogFile = (db: DatabaseSync): boolean => {
  try {
    return Number(db.prepare('pragma wal_checkpoint(truncate)').get()?.['busy']) === 0;
  } catch (error) {
    const failure = sqliteError(error);
    if (failure.code === 'busy') return false;
    throw failure;
  }
};

/** A connection for writing, to a file that only its owner may read and whose schema is up to date. */
export const openForWriting = (path: string, checkIntegrity: boolean): DatabaseSync => {
  prepareFile(path);
  let db: DatabaseSync | undefined;
  try {
    db = connect(path, false);
    if (checkIntegrity) check(db, path);
    migrate(db, path);
    return db;
  } catch (error) {
    db?.close();
    if (error instanceof StoreError) throw error;
    const failure = sqliteError(error);
    if (failure.code === 'corrupt') throw damaged(path, 'not a readable SQLite database', error);
    throw failure.code === 'unwritable' ? unwritable(path, error) : failure;
  }
};

/**
 * A new file with the tables of this or an earlier version, for filling it once: whoever is interrupted throws it away. It stands for itself, without
 * a log beside it that would need the same room again.
 */
export const createForFilling = (path: string, version: number): DatabaseSync => {
  createFile(path);
  const db = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  try {
    db.exec('pragma journal_mode = delete; pragma synchronous = off; pragma cache_size = -8192');
    migrate(db, path, version);
    return db;
  } catch (error) {
    db.close();
    throw sqliteError(error);
  }
};

export const openForReading = (path: string): DatabaseSync => connect(path, true);

import { closeSync, fsyncSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { SQLInputValue } from 'node:sqlite';
import pg from 'pg';
import { StoreError } from '../../core/errors.ts';
import { connectionTo, postgresError } from '../engines/postgres-pool.ts';
import { sqliteError } from '../engines/sqlite-dialect.ts';
import { createForFilling } from '../engines/sqlite-file.ts';
import { newerSchema, schemaVersion } from '../migrations.ts';
import { storable } from '../storable.ts';
import type { CopyOptions } from './copy-database.ts';

/** What each engine has in a form of its own and makes anew: the index of words, who is running, how far things are indexed. */
const left = new Set(['message_search', 'nodes', 'meta']);
const pageSize = 500;

const connect = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client(connectionTo(url));
  await client.connect();
  return client;
};

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const tablesIn = async (client: pg.Client): Promise<readonly string[]> => {
  const { rows } = await client.query<{ name: string }>("select tablename as name from pg_tables where schemaname = current_schema() order by tablename");
  return rows.map(({ name }) => name).filter((name) => !left.has(name));
};

/** 0 for a database without tables of ours. */
const versionIn = async (client: pg.Client): Promise<number> => {
  const { rows: known } = await client.query<{ name: string | null }>("select to_regclass('meta')::text as name");
  if (known[0]?.name == null) return 0;
  const { rows } = await client.query<{ value: string }>("select value from meta where key = 'schema_version'");
  return Number(rows[0]?.value ?? 0);
};

/** Of each table, so that nothing goes missing on the way. */
const countRows = async (client: pg.Client, tables: readonly string[]): Promise<ReadonlyMap<string, number>> => {
  const counts = new Map<string, number>();
  for (const table of tables) {
    const { rows } = await client.query<{ count: number }>(`select count(*) as count from ${quoted(table)}`);
    counts.set(table, rows[0]?.count ?? 0);
  }
  return counts;
};

interface TableCopy {
  readonly client: pg.Client;
  readonly db: DatabaseSync;
  /** After each page, with the number of its rows. */
  onPage(rows: number): void;
}

const copyTable = async ({ client, db, onPage }: TableCopy, table: string, expected: number): Promise<void> => {
  let copied = 0;
  await client.query(`declare copied no scroll cursor for select * from ${quoted(table)}`);
  for (;;) {
    const { rows } = await client.query<Record<string, unknown>>(`fetch ${pageSize} from copied`);
    const [first] = rows;
    if (first === undefined) break;
    const columns = Object.keys(first);
    const insert = db.prepare(`insert into ${quoted(table)} (${columns.map(quoted).join(', ')}) values (${columns.map(() => '?').join(', ')})`);
    for (const row of rows) insert.run(...columns.map((column) => storable(row[column]) as SQLInputValue));
    copied += rows.length;
    onPage(rows.length);
  }
  await client.query('close copied');
  if (copied !== expected) throw new StoreError('failed', `of ${expected} rows of ${table}, ${copied} were copied`);
};

interface Numbered {
  readonly table: string;
  readonly column: string;
}

/** Tables that number their rows. */
const numberedIn = async (client: pg.Client): Promise<readonly Numbered[]> =>
  (await client.query<Numbered>("select table_name as table, column_name as column from information_schema.columns where table_schema = current_schema() and is_identity = 'YES'")).rows;

/** New rows get numbers behind all that were ever given: buttons and keys of deliveries name rows that are long gone. */
const copyNumbers = async (client: pg.Client, db: DatabaseSync, tables: readonly string[]): Promise<void> => {
  for (const { table, column } of await numberedIn(client)) {
    if (!tables.includes(table)) continue;
    const { rows } = await client.query<{ last: number | null }>('select pg_sequence_last_value(pg_get_serial_sequence($1, $2)::regclass) as last', [quoted(table), column]);
    const last = rows[0]?.last ?? 0;
    const { changes } = db.prepare('update sqlite_sequence set seq = max(seq, ?) where name = ?').run(last, table);
    if (changes === 0) db.prepare('insert into sqlite_sequence (name, seq) values (?, ?)').run(table, last);
  }
};

const copyTables = async (client: pg.Client, db: DatabaseSync, options: CopyOptions): Promise<void> => {
  const ours = new Set(db.prepare("select name from sqlite_master where type = 'table'").all().map(({ name }) => String(name)));
  const tables = (await tablesIn(client)).filter((table) => ours.has(table));
  const counts = await countRows(client, tables);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  let done = 0;
  const onPage = (rows: number): void => {
    options.signal?.throwIfAborted();
    done += rows;
    options.onProgress?.(done, total);
  };
  db.exec('begin');
  for (const [table, count] of counts) await copyTable({ client, db, onPage }, table, count);
  await copyNumbers(client, db, tables);
  db.exec('commit');
};

/** What was written without waiting for the disk has to be there before anybody relies on it. */
const settleFile = (path: string): void => {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
};

const failureOf = (error: unknown, client: pg.Client | undefined): StoreError => {
  if (error instanceof StoreError) return error;
  return client === undefined || error instanceof pg.DatabaseError ? postgresError(error) : sqliteError(error);
};

/**
 * Writes what a PostgreSQL database of this or an earlier version holds at one moment into a new file of the embedded store, beside gateways at work.
 * Answers the version of its schema.
 */
export const copyFromPostgres = async (url: string, path: string, options: CopyOptions = {}): Promise<number> => {
  let client: pg.Client | undefined;
  let db: DatabaseSync | undefined;
  try {
    client = await connect(url);
    await client.query('begin isolation level repeatable read read only');
    await client.query("select set_config(name, '0', true) from pg_settings where name in ('statement_timeout', 'transaction_timeout')");
    const version = await versionIn(client);
    if (version === 0) throw new StoreError('failed', 'the database has no tables of hermes yet; start the gateway once');
    if (version > schemaVersion) throw newerSchema('The database', version);
    db = createForFilling(path, version);
    await copyTables(client, db, options);
    db.close();
    db = undefined;
    settleFile(path);
    return version;
  } catch (error) {
    if (options.signal?.aborted === true) throw error;
    throw failureOf(error, client);
  } finally {
    db?.close();
    await client?.end();
  }
};

/** Tables that every gateway that was used has rows in. */
const usedTables = ['sessions', 'inbox', 'outbox', 'turns', 'cron_jobs', 'pairings'];

const requireEmpty = async (client: pg.Client): Promise<void> => {
  for (const table of usedTables) {
    const { rows } = await client.query(`select 1 from ${quoted(table)} limit 1`);
    if (rows.length > 0) throw new StoreError('failed', `The PostgreSQL database is not empty: it has rows in ${table}. Make an empty one and name it in DATABASE_URL.`);
  }
};

const loadTable = async (client: pg.Client, db: DatabaseSync, table: string): Promise<void> => {
  await client.query(`delete from ${quoted(table)}`);
  let page: unknown[] = [];
  const flush = async (): Promise<void> => {
    if (page.length > 0) await client.query(`insert into ${quoted(table)} overriding system value select * from json_populate_recordset(null::${quoted(table)}, $1::json)`, [JSON.stringify(page)]);
    page = [];
  };
  for (const row of db.prepare(`select * from ${quoted(table)}`).iterate()) {
    page.push(row);
    if (page.length === pageSize) await flush();
  }
  await flush();
};

const loadNumbers = async (client: pg.Client, db: DatabaseSync): Promise<void> => {
  const given = new Map(db.prepare('select name, seq from sqlite_sequence').all().map(({ name, seq }) => [String(name), Number(seq)]));
  for (const { table, column } of await numberedIn(client)) {
    const sequence = [quoted(table), column, given.get(table) ?? 0];
    await client.query(`select setval(pg_get_serial_sequence($1, $2), greatest((select coalesce(max(${quoted(column)}), 0) from ${quoted(table)}), $3, 1))`, sequence);
  }
};

/** Puts what a file of the embedded store holds into a PostgreSQL database that has our tables and nothing in them. All of it or nothing. */
export const loadIntoPostgres = async (path: string, url: string): Promise<void> => {
  const db = new DatabaseSync(path, { readOnly: true });
  let client: pg.Client | undefined;
  try {
    client = await connect(url);
    await client.query('begin');
    const version = await versionIn(client);
    if (version !== schemaVersion) throw new StoreError('failed', `the database has schema ${version === 0 ? 'none' : version}, and this version of hermes has ${schemaVersion}; start the gateway once`);
    await requireEmpty(client);
    for (const table of await tablesIn(client)) await loadTable(client, db, table);
    await loadNumbers(client, db);
    await client.query('commit');
  } catch (error) {
    throw error instanceof StoreError ? error : postgresError(error);
  } finally {
    db.close();
    await client?.end();
  }
};

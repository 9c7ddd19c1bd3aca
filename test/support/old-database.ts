import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { pendingMigrations } from '../../src/store/migrations.ts';

/** A database as an earlier version has left it, with one person who was let in: Ann. */
export const writeOldDatabase = (path: string, version: number): void => {
  const db = new DatabaseSync(path);
  db.exec('pragma journal_mode = wal; create table meta (key text primary key, value text not null)');
  for (const step of pendingMigrations(0, 'sqlite', version)) for (const statement of step.statements) db.exec(statement);
  db.prepare("insert into meta values ('schema_version', ?)").run(String(version));
  db.exec("insert into pairings values ('telegram', '7', 'Ann', 'cli', 1)");
  db.close();
};

/** The same in an empty PostgreSQL database. */
export const writeOldPostgres = async (url: string, version: number): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('create table meta (key text primary key, value text not null)');
    for (const step of pendingMigrations(0, 'postgres', version)) for (const statement of step.statements) await client.query(statement);
    await client.query("insert into meta values ('schema_version', $1)", [String(version)]);
    await client.query("insert into pairings values ('telegram', '7', 'Ann', 'cli', 1)");
  } finally {
    await client.end();
  }
};

import { DatabaseSync } from 'node:sqlite';
import { pendingMigrations } from '../../src/store/migrations.ts';

/** A database as an earlier version has left it, with one person who was let in: Ann. */
export const writeOldDatabase = (path: string, version: number): void => {
  const db = new DatabaseSync(path);
  db.exec('pragma journal_mode = wal; create table meta (key text primary key, value text not null)');
  for (const step of pendingMigrations(0, 'sqlite').filter((one) => one.version <= version)) for (const statement of step.statements) db.exec(statement);
  db.prepare("insert into meta values ('schema_version', ?)").run(String(version));
  db.exec("insert into pairings values ('telegram', '7', 'Ann', 'cli', 1)");
  db.close();
};

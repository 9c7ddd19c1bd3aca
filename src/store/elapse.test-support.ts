import { sql } from 'kysely';
import type { OpenedStore } from '../../test/support/stores.ts';
import type { Tables } from './schema.ts';

/**
 * Lets a time pass that is too long for a slow machine to use up by itself: on SQLite by the clock; on PostgreSQL, whose clock nobody
 * moves, by making every time in these tables so much older.
 */
export const elapse = async ({ store, pass }: Pick<OpenedStore, 'store' | 'pass'>, ms: number, ...tables: readonly (keyof Tables)[]): Promise<void> => {
  if (store.engine === 'sqlite') return pass(ms);
  await store.write(async (tx) => {
    const { rows } = await sql<{ table: string; column: string }>`select table_name as "table", column_name as "column" from information_schema.columns
      where table_schema = 'public' and table_name in (${sql.join(tables)}) and column_name ~ '(_at|_until|_before|until_ms)$'`.execute(tx.q);
    for (const { table, column } of rows) await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sql.ref(column)} - ${ms}`.execute(tx.q);
  });
};

import { sql } from 'kysely';
import type { Store, Writing } from '../../src/store/store.ts';

/** Resolves when somebody waits for what the transaction has locked, or when the signal comes. Only on PostgreSQL. */
export const awaited = async (tx: Writing, over?: AbortSignal): Promise<void> => {
  for (;;) {
    const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity where datname = current_database() and pg_backend_pid() = any(pg_blocking_pids(pid))`.execute(tx.q);
    if (rows.length > 0 || over?.aborted === true) return;
    await sql`select pg_stat_clear_snapshot()`.execute(tx.q);
  }
};

/** Does something in a transaction that ends only when somebody else waits for it. Resolves when the work is done. Only on PostgreSQL. */
export const untilAwaited = async (store: Store, work: (tx: Writing) => Promise<unknown>): Promise<{ readonly done: Promise<void> }> => {
  const worked = Promise.withResolvers<void>();
  const done = store.write(async (tx) => {
    await work(tx);
    worked.resolve();
    await awaited(tx);
  });
  await worked.promise;
  return { done };
};

import { sql } from 'kysely';
import type { Reading, Writing } from './store.ts';

/** Times that lay ahead when the clock was set back do so by as much too far. Those that were stored since are near, and stay. */
const beyond = (db: Reading, backMs: number, slackMs: number) => sql<number>`${db.now} + ${Math.max(0, backMs - slackMs)}`;

/**
 * Moves everything that waits for a time as far back as the clock was set, on an engine whose clock is ours: what was to be tried again in five seconds is, also
 * after a day was taken back. `slackMs`: how long ago that may have been.
 */
export const followClock = async (tx: Writing, { backMs, slackMs }: { readonly backMs: number; readonly slackMs: number }): Promise<void> => {
  const bound = beyond(tx, backMs, slackMs);
  const lanes = await tx.q.updateTable('lanes').set((eb) => ({ ready_at: eb('ready_at', '-', backMs) })).where('has_work', '=', 1).where('ready_at', '>', bound).returning('lane').execute();
  await tx.q.updateTable('lanes').set((eb) => ({ lease_until: eb('lease_until', '-', backMs) })).where('lease_until', '>', bound).execute();
  await tx.q.updateTable('accounts').set((eb) => ({ lease_until: eb('lease_until', '-', backMs) })).where('lease_until', '>', bound).execute();
  await tx.q.updateTable('outbox').set((eb) => ({ not_before: eb('not_before', '-', backMs) })).where('state', 'in', ['pending', 'unknown']).where('not_before', '>', bound).execute();
  for (const table of ['gates', 'limits'] as const) await tx.q.updateTable(table).set((eb) => ({ until_ms: eb('until_ms', '-', backMs) })).where('until_ms', '>', bound).execute();
  for (const { lane } of lanes) tx.notify('lane', lane);
};

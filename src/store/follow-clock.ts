import { inMs } from './store.ts';
import type { Writing } from './store.ts';

/** Nobody claims anything for longer; what lasts beyond that was claimed by the old time. */
const longestLeaseMs = 300_000;

/**
 * Moves everything that waits for a time as far back as the clock was set, on an engine whose clock is ours: what was ready is ready, and what was to be tried again in
 * five seconds is, also after a day was taken back. What was put off since then may come early, and is put off again.
 */
export const followClock = async (tx: Writing, backMs: number): Promise<void> => {
  const lanes = await tx.q.updateTable('lanes').set((eb) => ({ ready_at: eb('ready_at', '-', backMs) })).where('has_work', '=', 1).where('ready_at', '>', tx.now).returning('lane').execute();
  for (const table of ['lanes', 'accounts'] as const) await tx.q.updateTable(table).set((eb) => ({ lease_until: eb('lease_until', '-', backMs) })).where('lease_until', '>', inMs(tx, longestLeaseMs)).execute();
  await tx.q.updateTable('outbox').set((eb) => ({ not_before: eb('not_before', '-', backMs) })).where('state', 'in', ['pending', 'unknown']).where('not_before', '>', tx.now).execute();
  for (const table of ['gates', 'limits'] as const) await tx.q.updateTable(table).set((eb) => ({ until_ms: eb('until_ms', '-', backMs) })).where('until_ms', '>', tx.now).execute();
  for (const { lane } of lanes) tx.notify('lane', lane);
};

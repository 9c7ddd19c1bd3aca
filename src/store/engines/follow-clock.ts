import { sql } from 'kysely';
import { inMs } from '../store.ts';
import type { Writing } from '../store.ts';

/** Until when something waits. */
const waits = [
  { table: 'gates', column: 'until_ms' },
  { table: 'limits', column: 'until_ms' },
  { table: 'memory_work', column: 'ready_at' },
  { table: 'speech_work', column: 'ready_at' },
  { table: 'title_work', column: 'ready_at' },
  { table: 'compression_failures', column: 'retry_at' },
] as const;

/** Claims of this kind never last longer than `longestMs`; what does was claimed by the old time. */
const leases = [
  { table: 'lanes', longestMs: 300_000 },
  { table: 'accounts', longestMs: 300_000 },
  { table: 'handoffs', longestMs: 300_000 },
  { table: 'memory_work', longestMs: 300_000 },
  { table: 'speech_work', longestMs: 300_000 },
  { table: 'title_work', longestMs: 600_000 },
] as const;

/** What was asked no longer ago than this may have been asked by the new time: the clock is looked at every thirty seconds. */
const slackMs = 60_000;

/** Every column that is moved. */
export const followingColumns: readonly string[] = [
  ...waits.map(({ table, column }) => `${table}.${column}`),
  ...leases.map(({ table }) => `${table}.lease_until`),
  'lanes.ready_at',
  'outbox.not_before',
  'questions.expires_at',
];

/** One whose time was set by the new clock would be over before anybody has seen it. */
const moveQuestions = async (tx: Writing, backMs: number): Promise<void> => {
  await tx.q
    .updateTable('questions')
    .set((eb) => ({ expires_at: eb('expires_at', '-', backMs) }))
    .where('state', '=', 'open')
    .where((eb) => eb.or([eb('created_at', '>', tx.now), eb('created_at', '<', inMs(tx, -slackMs))]))
    .execute();
};

/**
 * Moves everything that waits for a time as far back as the clock was set, on an engine whose clock is ours: what was ready is ready, and what was to be tried again in
 * five seconds is, also after a day was taken back. What was put off since then may come early, and is put off again. Jobs have rules of their own.
 */
export const followClock = async (tx: Writing, backMs: number): Promise<void> => {
  const lanes = await tx.q.updateTable('lanes').set((eb) => ({ ready_at: eb('ready_at', '-', backMs) })).where('has_work', '=', 1).where('ready_at', '>', tx.now).returning('lane').execute();
  await tx.q.updateTable('outbox').set((eb) => ({ not_before: eb('not_before', '-', backMs) })).where('state', 'in', ['pending', 'unknown']).where('not_before', '>', tx.now).execute();
  for (const { table, column } of waits) await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sql.ref(column)} - ${backMs} where ${sql.ref(column)} > ${tx.now}`.execute(tx.q);
  for (const { table, longestMs } of leases) await tx.q.updateTable(table).set((eb) => ({ lease_until: eb('lease_until', '-', backMs) })).where('lease_until', '>', inMs(tx, longestMs)).execute();
  await moveQuestions(tx, backMs);
  for (const { lane } of lanes) tx.notify('lane', lane);
};

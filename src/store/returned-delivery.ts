import { sql } from 'kysely';
import type { Attempt } from './outbox.ts';
import type { Writing } from './store.ts';

/** Mail servers give up after five days at the latest. */
const reachMs = 8 * 24 * 3600 * 1000;

/**
 * A message that the platform had taken did not reach anybody: its delivery has failed after all. Answers whether there is such a delivery; to be told
 * twice changes nothing.
 */
export const markReturned = async (tx: Writing, message: { readonly account: string; readonly messageId: string; readonly reason: string }): Promise<boolean> => {
  const needle = JSON.stringify(message.messageId);
  const position = tx.engine === 'sqlite' ? sql<number>`instr(message_ids, ${needle})` : sql<number>`strpos(message_ids, ${needle})`;
  const row = await tx.q
    .selectFrom('outbox')
    .select(['id', 'state', 'log', sql<number>`${tx.now}`.as('now')])
    .where('account', '=', message.account)
    .where('state', 'in', ['sent', 'failed'])
    .where('updated_at', '>', sql<number>`${tx.now} - ${sql.lit(reachMs)}`)
    .where(position, '>', 0)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row?.state !== 'sent') return row !== undefined;
  const log = [...(JSON.parse(row.log) as Attempt[]), { atMs: Number(row.now), outcome: 'returned', detail: message.reason } satisfies Attempt];
  await tx.q.updateTable('outbox').set({ state: 'failed', error: message.reason, log: JSON.stringify(log), updated_at: tx.now }).where('id', '=', row.id).execute();
  return true;
};

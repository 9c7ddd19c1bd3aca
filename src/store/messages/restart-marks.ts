import type { Target } from '../../core/message.ts';
import type { Reading, Writing } from '../store.ts';

/** A chat that wants to know when the gateway is back. */
export interface RestartMark {
  readonly inboxId: number;
  readonly target: Target;
}

export const markRestart = async (tx: Writing, mark: RestartMark): Promise<void> => {
  await tx.q
    .insertInto('restart_marks')
    .values({ inbox_id: mark.inboxId, target: JSON.stringify(mark.target), asked_at: tx.now })
    .onConflict((conflict) => conflict.column('inbox_id').doNothing())
    .execute();
};

/** Whether it is still to be told. */
export const isRestartMarked = async (db: Reading, inboxId: number): Promise<boolean> => (await db.q.selectFrom('restart_marks').select('inbox_id').where('inbox_id', '=', inboxId).executeTakeFirst()) !== undefined;

/** Takes them all: whoever is told in this transaction is told once. */
export const takeRestartMarks = async (tx: Writing): Promise<RestartMark[]> => {
  const rows = await tx.q.deleteFrom('restart_marks').returning(['inbox_id', 'target']).execute();
  return rows.map((row) => ({ inboxId: row.inbox_id, target: JSON.parse(row.target) as Target }));
};

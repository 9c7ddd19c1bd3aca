import { inMs } from '../store.ts';
import type { Reading, Writing } from '../store.ts';

/** What a command still does after its transaction. */
export interface CommandWork {
  readonly inboxId: number;
  readonly command: string;
  /** The node that does it. */
  readonly owner: string;
}

export const beginWork = async (tx: Writing, work: CommandWork): Promise<void> => {
  await tx.q.insertInto('command_work').values({ inbox_id: work.inboxId, command: work.command, owner: work.owner, started_at: tx.now }).execute();
};

/** False when it has ended before: whoever gets true answers for it. */
export const endWork = async (tx: Writing, inboxId: number): Promise<boolean> => {
  const result = await tx.q.deleteFrom('command_work').where('inbox_id', '=', inboxId).executeTakeFirst();
  return result.numDeletedRows === 1n;
};

/** Work of nodes that are gone, or have been silent for so long. */
export const abandonedWork = async (db: Reading, silentMs: number): Promise<CommandWork[]> => {
  const rows = await db.q
    .selectFrom('command_work')
    .leftJoin('nodes', 'nodes.id', 'command_work.owner')
    .select(['command_work.inbox_id', 'command_work.command', 'command_work.owner'])
    .where((eb) => eb.or([eb('nodes.id', 'is', null), eb('nodes.seen_at', '<', inMs(db, -silentMs))]))
    .orderBy('command_work.inbox_id')
    .execute();
  return rows.map((row) => ({ inboxId: row.inbox_id, command: row.command, owner: row.owner }));
};

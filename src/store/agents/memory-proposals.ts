import type { Selectable } from 'kysely';
import type { MemoryProposalRow } from '../schema/agent-rows.ts';
import type { Reading, Writing } from '../store.ts';

/** A change of the agent's memory that waits for a person's yes. */
export interface MemoryProposal {
  readonly id: number;
  readonly agent: string;
  readonly sessionId: string;
  readonly account: string;
  readonly userId: string | null;
  readonly target: string;
  /** Plain JSON. */
  readonly change: unknown;
  readonly createdAtMs: number;
}

const toProposal = (row: Selectable<MemoryProposalRow>): MemoryProposal => ({
  id: row.id,
  agent: row.agent,
  sessionId: row.session_id,
  account: row.account,
  userId: row.user_id,
  target: row.target,
  change: JSON.parse(row.change) as unknown,
  createdAtMs: row.created_at,
});

/** Undefined when `most` of the agent are waiting already. */
export const addMemoryProposal = async (tx: Writing, proposal: Omit<MemoryProposal, 'id' | 'createdAtMs'>, most: number): Promise<number | undefined> => {
  const full = await tx.q.selectFrom('memory_proposals').select('id').where('agent', '=', proposal.agent).orderBy('id').offset(most - 1).limit(1).executeTakeFirst();
  if (full !== undefined) return undefined;
  const row = await tx.q
    .insertInto('memory_proposals')
    .values({ agent: proposal.agent, session_id: proposal.sessionId, account: proposal.account, user_id: proposal.userId, target: proposal.target, change: JSON.stringify(proposal.change), created_at: tx.now })
    .returning('id')
    .executeTakeFirst();
  return row?.id;
};

/** Oldest first. `of` keeps to what comes from one person's conversations, or from the one conversation of everybody. */
export const listMemoryProposals = async (db: Reading, agent: string, of?: { readonly account: string; readonly userId: string; readonly sessionId: string }): Promise<readonly MemoryProposal[]> => {
  let query = db.q.selectFrom('memory_proposals').selectAll().where('agent', '=', agent);
  if (of !== undefined) query = query.where((eb) => eb.or([eb.and([eb('account', '=', of.account), eb('user_id', '=', of.userId)]), eb('session_id', '=', of.sessionId)]));
  return (await query.orderBy('id').limit(100).execute()).map(toProposal);
};

/** False when somebody has decided about it already. */
export const removeMemoryProposal = async (tx: Writing, id: number): Promise<boolean> => {
  const result = await tx.q.deleteFrom('memory_proposals').where('id', '=', id).executeTakeFirst();
  return result.numDeletedRows > 0n;
};

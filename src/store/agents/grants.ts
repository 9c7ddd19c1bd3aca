import type { Reading, Writing } from '../store.ts';

/** Something that a person has allowed for the rest of one conversation. */
export interface Grant {
  /** The class of what is allowed; `*` for everything that can be allowed at all. */
  readonly pattern: string;
  readonly grantedBy: string;
}

export const everything = '*';

export const grantsOf = async (db: Reading, sessionId: string): Promise<Grant[]> => {
  const rows = await db.q.selectFrom('grants').select(['pattern', 'granted_by']).where('session_id', '=', sessionId).orderBy('pattern').execute();
  return rows.map((row) => ({ pattern: row.pattern, grantedBy: row.granted_by }));
};

export const grantPatterns = async (tx: Writing, sessionId: string, grants: readonly Grant[]): Promise<void> => {
  if (grants.length === 0) return;
  await tx.q
    .insertInto('grants')
    .values(grants.map(({ pattern, grantedBy }) => ({ session_id: sessionId, pattern, granted_by: grantedBy, granted_at: tx.now })))
    .onConflict((conflict) => conflict.columns(['session_id', 'pattern']).doNothing())
    .execute();
};

/** How many there were. Without patterns all of the conversation's grants go. */
export const revokeGrants = async (tx: Writing, sessionId: string, patterns?: readonly string[]): Promise<number> => {
  let query = tx.q.deleteFrom('grants').where('session_id', '=', sessionId);
  if (patterns !== undefined) query = query.where('pattern', 'in', [...patterns]);
  return Number((await query.executeTakeFirst()).numDeletedRows);
};

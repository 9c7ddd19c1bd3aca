import type { Reading, Writing } from '../store.ts';

/** The session that an agent which is another program keeps for one of our conversations. */
export interface AcpSession {
  /** Which program, in which folder: another one knows nothing of it. */
  readonly maker: string;
  readonly acpId: string;
  /** Names the last thing of the conversation that was handed over. */
  readonly seen: string;
  /** The turn in which that was done. */
  readonly turnId: string;
}

export const findAcpSession = async (db: Reading, sessionId: string): Promise<AcpSession | undefined> => {
  const row = await db.q.selectFrom('acp_sessions').select(['maker', 'acp_id', 'seen', 'turn_id']).where('session_id', '=', sessionId).executeTakeFirst();
  return row === undefined ? undefined : { maker: row.maker, acpId: row.acp_id, seen: row.seen, turnId: row.turn_id };
};

/** Written before anything is handed over, so that it is never handed over twice. */
export const keepAcpSession = async (tx: Writing, sessionId: string, session: AcpSession): Promise<void> => {
  const values = { maker: session.maker, acp_id: session.acpId, seen: session.seen, turn_id: session.turnId, updated_at: tx.now };
  await tx.q
    .insertInto('acp_sessions')
    .values({ session_id: sessionId, ...values })
    .onConflict((conflict) => conflict.column('session_id').doUpdateSet(values))
    .execute();
};

import type { Reading } from './store.ts';

/** Bytes of the newest messages that the model may see, up to `limit` of them. Costs the same however long the conversation is. */
export const contextSize = async (db: Reading, sessionId: string, limit: number): Promise<{ readonly messages: number; readonly sizeBytes: number }> => {
  const newest = db.q.selectFrom('messages').select('size').where('session_id', '=', sessionId).where('active', '=', 1).orderBy('id', 'desc').limit(limit).as('newest');
  const row = await db.q
    .selectFrom(newest)
    .select((eb) => [eb.fn.countAll<number>().as('messages'), eb.fn.coalesce(eb.fn.sum<number>('newest.size'), eb.lit(0)).as('size')])
    .executeTakeFirstOrThrow();
  return { messages: Number(row.messages), sizeBytes: Number(row.size) };
};

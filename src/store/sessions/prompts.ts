import type { Reading, Writing } from '../store.ts';

/** The system prompt that a conversation was begun with. */
export interface StoredPrompt {
  /** Of everything it was made from that may not change underneath it. */
  readonly fingerprint: string;
  readonly text: string;
}

export const findPrompt = async (db: Reading, sessionId: string): Promise<StoredPrompt | undefined> => {
  const row = await db.q.selectFrom('prompts').select(['fingerprint', 'text']).where('session_id', '=', sessionId).executeTakeFirst();
  return row;
};

export const keepPrompt = async (tx: Writing, sessionId: string, prompt: StoredPrompt): Promise<void> => {
  const values = { ...prompt, updated_at: tx.now };
  await tx.q
    .insertInto('prompts')
    .values({ session_id: sessionId, ...values })
    .onConflict((conflict) => conflict.column('session_id').doUpdateSet(values))
    .execute();
};

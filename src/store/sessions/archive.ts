import type { Writing } from '../store.ts';

/** Which messages of a conversation are meant: those after one and up to another, but for some that stay. */
export interface Stretch {
  readonly afterId: number;
  readonly throughId: number;
  readonly keepIds: readonly number[];
}

const meant = (tx: Writing, sessionId: string, stretch: Stretch) => {
  const rows = tx.q.updateTable('messages').where('session_id', '=', sessionId).where('active', '=', 1).where('id', '>', stretch.afterId).where('id', '<=', stretch.throughId);
  return stretch.keepIds.length === 0 ? rows : rows.where('id', 'not in', [...stretch.keepIds]);
};

/** Takes messages out of the model's sight because a summary speaks for them; they stay stored, listed and searchable. Answers how many there were. */
export const archiveMessages = async (tx: Writing, sessionId: string, stretch: Stretch & { compressionId: number }): Promise<number> => {
  const result = await meant(tx, sessionId, stretch).set({ active: 0, compression_id: stretch.compressionId }).executeTakeFirst();
  return Number(result.numUpdatedRows);
};

/** From now on the model sees of each tool result that is larger than `overBytes` no more than that it was there. The results stay stored. */
export const clearResults = async (tx: Writing, sessionId: string, stretch: Stretch & { overBytes: number; sizeBytes: number }): Promise<number> => {
  const results = meant(tx, sessionId, stretch).where('role', '=', 'tool').where('size', '>', stretch.overBytes);
  const result = await results.set({ shown_chars: 0, size: stretch.sizeBytes }).executeTakeFirst();
  return Number(result.numUpdatedRows);
};

/** From now on the model sees only so many characters of a tool's result, which weigh so much. */
export const showLess = async (tx: Writing, id: number, shown: { chars: number; sizeBytes: number }): Promise<void> => {
  await tx.q.updateTable('messages').set({ shown_chars: shown.chars, size: shown.sizeBytes }).where('id', '=', id).where('role', '=', 'tool').execute();
};

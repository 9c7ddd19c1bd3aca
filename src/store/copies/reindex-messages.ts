import { indexMessage } from '../sessions/search.ts';
import type { Store, Writing } from '../store.ts';

const batchSize = 200;

const nextBatch = async (tx: Writing, afterId: number): Promise<number | undefined> => {
  const rows = await tx.q
    .selectFrom('messages')
    .select(['id', 'content', 'role', 'active', 'compression_id'])
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(batchSize)
    .execute();
  for (const row of rows) if (row.role !== 'tool' && (row.active === 1 || row.compression_id !== null)) await indexMessage(tx, row.id, row.content);
  return rows.at(-1)?.id;
};

/** Makes all messages findable, where that is done as they are written: for a database whose rows came from elsewhere. */
export const reindexMessages = async (store: Store): Promise<void> => {
  for (let afterId: number | undefined = 0; afterId !== undefined; ) {
    const from: number = afterId;
    afterId = await store.write((tx) => nextBatch(tx, from));
  }
};

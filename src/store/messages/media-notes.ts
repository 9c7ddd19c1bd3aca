import { inMs } from '../store.ts';
import type { Store } from '../store.ts';

/** What is said about a file, and by which model. */
export interface MediaNote {
  readonly text: string;
  readonly model: string;
}

/** What was once found out about files: what was said in them, what they show. It is kept for as long as it is asked for now and then. */
export interface MediaNotes {
  find(key: string): Promise<string | undefined>;
  /** Answers what is kept from now on: the first note about a file stays. */
  keep(key: string, note: MediaNote): Promise<string>;
}

/** Not every look is worth a write. */
const noticedMs = 86_400_000;

export const newMediaNotes = (store: Store): MediaNotes => ({
  async find(key) {
    const row = await store.read((db) => db.q.selectFrom('media_notes').select(['text', (eb) => eb('used_at', '<', inMs(db, -noticedMs)).as('unnoticed')]).where('key', '=', key).executeTakeFirst());
    if (row === undefined) return undefined;
    if (row.unnoticed) await store.write((tx) => tx.q.updateTable('media_notes').set({ used_at: tx.now }).where('key', '=', key).execute(), { patient: true });
    return row.text;
  },
  keep: (key, note) =>
    store.write(async (tx) => {
      await tx.q
        .insertInto('media_notes')
        .values({ key, text: note.text, model: note.model, created_at: tx.now, used_at: tx.now })
        .onConflict((conflict) => conflict.column('key').doUpdateSet({ used_at: tx.now }))
        .execute();
      const { text } = await tx.q.selectFrom('media_notes').select('text').where('key', '=', key).executeTakeFirstOrThrow();
      return text;
    }),
});

import { inMs } from '../store.ts';
import type { Reading, Writing } from '../store.ts';

/** An answer that is given again when the same key asks the same under the same name. */
export interface ApiReplay {
  /** Of what was asked. */
  readonly fingerprint: string;
  readonly answer: string;
}

interface ReplayName {
  readonly keyId: string;
  readonly name: string;
}

const lifeMs = 24 * 3_600_000;

export const findReplay = async (db: Reading, of: ReplayName): Promise<ApiReplay | undefined> =>
  db.q.selectFrom('api_replays').select(['fingerprint', 'answer']).where('key_id', '=', of.keyId).where('name', '=', of.name).where('created_at', '>', inMs(db, -lifeMs)).executeTakeFirst();

/** Takes the place of one that is too old; a younger one stays, and is answered. */
export const keepReplay = async (tx: Writing, of: ReplayName, replay: ApiReplay): Promise<ApiReplay | undefined> => {
  await tx.q.deleteFrom('api_replays').where('created_at', '<=', inMs(tx, -lifeMs)).execute();
  const kept = await tx.q
    .insertInto('api_replays')
    .values({ key_id: of.keyId, name: of.name, fingerprint: replay.fingerprint, answer: replay.answer, created_at: tx.now })
    .onConflict((conflict) => conflict.columns(['key_id', 'name']).doNothing())
    .returning('name')
    .executeTakeFirst();
  return kept === undefined ? findReplay(tx, of) : undefined;
};

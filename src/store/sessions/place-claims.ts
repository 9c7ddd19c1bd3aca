import { prepared } from '../prepared.ts';
import type { Reading, Writing } from '../store.ts';

/** A chat, or a thread in it. */
export interface ChatPlace {
  readonly account: string;
  readonly chatId: string;
  readonly threadId?: string;
}

const placeValues = (place: ChatPlace) => ({ account: place.account, chat_id: place.chatId, thread_id: place.threadId ?? '' });

/** Has a conversation wait in a place: whoever speaks there next continues it. `lasting`: and everybody after them as well. */
export const claimPlace = async (tx: Writing, place: ChatPlace, claim: { sessionId: string; lasting: boolean }): Promise<void> => {
  const values = { session_id: claim.sessionId, lasting: claim.lasting ? 1 : 0, created_at: tx.now };
  await tx.q
    .insertInto('place_claims')
    .values({ ...placeValues(place), ...values })
    .onConflict((conflict) => conflict.columns(['account', 'chat_id', 'thread_id']).doUpdateSet(values))
    .execute();
};

/** False when nothing waited there any more: of two who saw a conversation wait, one releases it. */
export const releasePlace = async (tx: Writing, place: ChatPlace): Promise<boolean> => {
  const { account, chat_id, thread_id } = placeValues(place);
  const { numDeletedRows } = await tx.q.deleteFrom('place_claims').where('account', '=', account).where('chat_id', '=', chat_id).where('thread_id', '=', thread_id).executeTakeFirst();
  return numDeletedRows > 0n;
};

/** The conversation that waits in a place. */
export const claimedPlace = async (db: Reading, place: ChatPlace): Promise<{ readonly sessionId: string; readonly lasting: boolean } | undefined> => {
  const [row] = (await selectClaim(db, { account: place.account, chatId: place.chatId, threadId: place.threadId ?? '' })).rows;
  return row === undefined ? undefined : { sessionId: row.session_id, lasting: row.lasting === 1 };
};

const selectClaim = prepared((db, at: { account: string; chatId: string; threadId: string }) =>
  db.q.selectFrom('place_claims').select(['session_id', 'lasting']).where('account', '=', at.account).where('chat_id', '=', at.chatId).where('thread_id', '=', at.threadId),
);

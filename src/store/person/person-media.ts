import type { OutboundMedia } from '../../core/message.ts';
import type { Attachment } from '../../core/transcript.ts';
import { inPages } from './in-pages.ts';
import type { Delivery } from '../messages/outbox.ts';
import type { Reading } from '../store.ts';

/** Files of somebody, as the store names them. */
export interface PersonMedia {
  /** What stands in their conversations, below the media folder. */
  readonly attached: readonly string[];
  /** What was made to be sent to them; absolute, in the home of that time. */
  readonly outgoing: readonly string[];
  /** By which a platform of ours finds the files that it shows in their chats. */
  readonly shown: ReadonlySet<string>;
}

interface Places {
  readonly account: string;
  readonly sessionIds: readonly string[];
  readonly inboxIds: readonly number[];
  readonly chatIds: readonly string[];
}

const attachedIn = async (db: Reading, sessionIds: readonly string[]): Promise<readonly string[]> => {
  const rows = await inPages(sessionIds, (ids) => db.q.selectFrom('messages').select('body').where('session_id', 'in', [...ids]).where('body', 'like', '%"attachments"%').execute());
  return rows.flatMap(({ body }) => (JSON.parse(body ?? '{}') as { readonly attachments?: readonly Attachment[] }).attachments ?? []).map(({ path }) => path);
};

const mediaIn = (payload: string): readonly OutboundMedia[] => {
  const { message, closing } = JSON.parse(payload) as Delivery;
  return [...(message.media ?? []), ...(closing?.media ?? [])];
};

const outgoingTo = async (db: Reading, { account, sessionIds, inboxIds, chatIds }: Places): Promise<readonly string[]> => {
  const withFiles = db.q.selectFrom('outbox').select('payload').where('payload', 'like', '%"media"%');
  const turns = await inPages(sessionIds, (ids) => db.q.selectFrom('turns').select('id').where('session_id', 'in', [...ids]).execute());
  const rows = [
    ...(await inPages(turns.map(({ id }) => id), (ids) => withFiles.where('turn_id', 'in', [...ids]).execute())),
    ...(await inPages(inboxIds, (ids) => withFiles.where('inbox_id', 'in', [...ids]).execute())),
    ...(await inPages(chatIds, (ids) => withFiles.where('account', '=', account).where('chat_id', 'in', [...ids]).execute())),
  ];
  return rows.flatMap(({ payload }) => mediaIn(payload)).map(({ path }) => path);
};

/** Ids of files are long and made of few letters; whatever else looks so is the name of no file. */
const idShape = /\b[a-z]+_[0-9a-z]{10,}\b/g;

const shownIn = async (db: Reading, account: string, chatIds: readonly string[]): Promise<ReadonlySet<string>> => {
  const rows = await inPages(chatIds, (ids) => db.q.selectFrom('journal').select('entry').where('account', '=', account).where('stream', 'in', [...ids]).execute());
  return new Set(rows.flatMap(({ entry }) => entry.match(idShape) ?? []));
};

export const mediaOf = async (db: Reading, places: Places): Promise<PersonMedia> => ({
  attached: await attachedIn(db, places.sessionIds),
  outgoing: await outgoingTo(db, places),
  shown: await shownIn(db, places.account, places.chatIds),
});

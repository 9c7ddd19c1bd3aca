import type { Delivery } from '../messages/outbox.ts';
import type { Reading } from '../store.ts';
import type { Person, PersonData } from './find-person.ts';

const parse = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

/** What is kept about somebody beside conversations, as they may want to read it. Credentials and hashes of codes are left out. */
export const readPersonFacts = async (db: Reading, { account, userId }: Person, data: PersonData) => {
  const pairings = await db.q.selectFrom('pairings').select(['user_name', 'approved_by', 'approved_at']).where('account', '=', account).where('user_id', '=', userId).execute();
  const requests = await db.q.selectFrom('pairing_requests').select(['kind', 'user_name', 'created_at']).where('account', '=', account).where('user_id', '=', userId).execute();
  const denials = await db.q.selectFrom('denials').select(['chat_id', 'kind', 'reason', 'count', 'first_at', 'last_at']).where('account', '=', account).where('user_id', '=', userId).execute();
  const asked = await db.q.selectFrom('questions').select(['question', 'state', 'answer', 'created_at']).where('account', '=', account).where((eb) => eb.or([eb('asker', '=', userId), eb('answered_by', '=', userId)])).execute();
  const proposals = await db.q.selectFrom('memory_proposals').select(['agent', 'change', 'created_at']).where('account', '=', account).where('user_id', '=', userId).execute();
  const channels = data.chatIds.length === 0 ? [] : await db.q.selectFrom('channels').select(['chat_id', 'thread_id', 'name', 'chat_type', 'spoken_at']).where('account', '=', account).where('chat_id', 'in', [...data.chatIds]).execute();
  const jobs = data.jobIds.length === 0 ? [] : await db.q.selectFrom('cron_jobs').select(['id', 'name', 'agent', 'definition', 'schedule', 'state', 'created_at']).where('id', 'in', [...data.jobIds]).execute();
  return {
    pairings,
    pairingRequests: requests,
    denials,
    questions: asked.map((row) => ({ ...row, question: parse(row.question), answer: row.answer })),
    memoryProposals: proposals.map((row) => ({ ...row, change: parse(row.change) })),
    directChats: data.chatIds,
    channels,
    jobs: jobs.map((row) => ({ ...row, definition: parse(row.definition), schedule: parse(row.schedule) })),
  };
};

/** Messages of somebody that are still traceable, newest last, a page at a time. */
export const pageOfArrivals = async (db: Reading, ids: readonly number[]): Promise<readonly unknown[]> => {
  if (ids.length === 0) return [];
  const rows = await db.q.selectFrom('inbox').select(['id', 'event', 'state', 'reason', 'received_at']).where('id', 'in', [...ids]).orderBy('id').execute();
  return rows.map((row) => ({ ...row, event: parse(row.event) }));
};

/** What was sent to a direct chat and is still traceable, answers to commands among it. */
export const deliveriesTo = async (db: Reading, chat: { readonly account: string; readonly chatId: string }): Promise<readonly unknown[]> => {
  const rows = await db.q.selectFrom('outbox').select(['payload', 'state', 'created_at']).where('account', '=', chat.account).where('chat_id', '=', chat.chatId).orderBy('id').execute();
  return rows.map((row) => ({ at: new Date(row.created_at).toISOString(), chatId: chat.chatId, state: row.state, text: (JSON.parse(row.payload) as Delivery).message.text }));
};

/** What a page or a terminal shows again of a direct chat. */
export const pageOfJournal = async (db: Reading, chat: { readonly account: string; readonly chatId: string }, page: { readonly after: number; readonly limit: number }): Promise<readonly { readonly seq: number; readonly entry: string; readonly created_at: number }[]> =>
  db.q.selectFrom('journal').select(['seq', 'entry', 'created_at']).where('account', '=', chat.account).where('stream', '=', chat.chatId).where('seq', '>', page.after).orderBy('seq').limit(page.limit).execute();

import { sql } from 'kysely';
import { messageSizeBytes } from '../../core/transcript.ts';
import { oweScrub } from '../copies/scrub.ts';
import { outLane } from '../lanes/lanes.ts';
import { eraseSession, pagesOf, shortenSession } from '../sessions/erase-session.ts';
import { unindexMessages } from '../sessions/search.ts';
import type { SessionSettings } from '../sessions/sessions.ts';
import type { Store, Writing } from '../store.ts';
import { eraseQuotes } from './erase-quotes.ts';
import type { Person, PersonData, SharedRow } from './find-person.ts';

/** What stands in a conversation of others where somebody's words were. */
export const erasedText = '[erased at the request of who wrote it]';

/** How many rows of each kind are gone. */
export type ErasedRows = Readonly<Record<string, number>>;

const eraseShared = async (tx: Writing, ids: readonly number[]): Promise<void> => {
  const size = messageSizeBytes({ role: 'user', content: erasedText });
  await unindexMessages(tx, ids);
  await tx.q.updateTable('messages').set({ content: erasedText, body: null, size }).where('id', 'in', [...ids]).execute();
};

/** As many of the first rows as a conversation gets its title from. */
const titleRows = 12;

/** What was made of their words in conversations of others and still waits, or names them: titles, and turns that a memory provider is still to be told. */
const eraseDerived = async (tx: Writing, sessionId: string, rows: readonly SharedRow[]): Promise<void> => {
  const first = await tx.q.selectFrom('messages').select('id').where('session_id', '=', sessionId).orderBy('id').limit(titleRows).execute();
  if (first.some(({ id }) => rows.some((row) => row.id === id))) await tx.q.updateTable('sessions').set({ title: null }).where('id', '=', sessionId).execute();
  const turns = new Set(rows.map(({ turnId }) => `turn:${turnId}`));
  const waiting = await tx.q.selectFrom('memory_work').select(['id', 'payload']).where('session_id', '=', sessionId).where('kind', '=', 'turn').execute();
  for (const { id, payload } of waiting) if (turns.has((JSON.parse(payload) as { readonly turn: { readonly key: string } }).turn.key)) await tx.q.deleteFrom('memory_work').where('id', '=', id).execute();
};

const eraseArrivals = async (tx: Writing, ids: readonly number[]): Promise<void> => {
  for (const table of ['command_work', 'restart_marks'] as const) await tx.q.deleteFrom(table).where('inbox_id', 'in', [...ids]).execute();
  await tx.q.deleteFrom('outbox').where('inbox_id', 'in', [...ids]).execute();
  await tx.q.deleteFrom('inbox').where('id', 'in', [...ids]).execute();
};

/** What is kept under a direct chat. */
const eraseChat = async (tx: Writing, account: string, chatId: string): Promise<Record<string, number>> => {
  const deliveries = await tx.q.deleteFrom('outbox').where('account', '=', account).where('chat_id', '=', chatId).executeTakeFirst();
  await tx.q.deleteFrom('lanes').where('lane', '=', outLane(account, chatId)).execute();
  await tx.q.deleteFrom('gates').where(endsWith('scope', `:${account}:${chatId}`)).execute();
  const arrivals = await tx.q.deleteFrom('inbox').where('account', '=', account).where('chat_id', '=', chatId).executeTakeFirst();
  const journal = await tx.q.deleteFrom('journal').where('account', '=', account).where('stream', '=', chatId).executeTakeFirst();
  const channels = await tx.q.deleteFrom('channels').where('account', '=', account).where('chat_id', '=', chatId).executeTakeFirst();
  await tx.q.deleteFrom('place_claims').where('account', '=', account).where('chat_id', '=', chatId).execute();
  await tx.q.deleteFrom('dead_targets').where('account', '=', account).where('chat_id', '=', chatId).execute();
  for (const key of await valuesOf(tx, account, chatId)) await tx.q.deleteFrom('account_values').where('account', '=', account).where('key', '=', key).execute();
  const home = await tx.q.selectFrom('homes').select('target').where('account', '=', account).executeTakeFirst();
  if (home !== undefined && (JSON.parse(home.target) as { readonly chatId?: string }).chatId === chatId) await tx.q.deleteFrom('homes').where('account', '=', account).execute();
  return { deliveries: Number(deliveries.numDeletedRows), arrivals: Number(arrivals.numDeletedRows), 'journal entries': Number(journal.numDeletedRows), 'channel names': Number(channels.numDeletedRows) };
};

/** What platforms keep under a chat's id, alone or with something behind it: `chat:7`, `thread:ann@example.org/42`. */
const valuesOf = async (tx: Writing, account: string, chatId: string): Promise<readonly string[]> => {
  const rows = await tx.q.selectFrom('account_values').select('key').where('account', '=', account).where(sql<boolean>`replace(key, ${chatId}, '') <> key`).execute();
  const isAlone = new RegExp(`:${RegExp.escape(chatId)}(?:$|[:/ ])`);
  return rows.map(({ key }) => key).filter((key) => isAlone.test(key));
};

const endsWith = (column: string, end: string) => sql<boolean>`substr(${sql.ref(column)}, length(${sql.ref(column)}) - ${Array.from(end).length - 1}) = ${end}`;

const eraseNames = async (tx: Writing, { account, userId }: Person): Promise<Record<string, number>> => {
  const pairings = await tx.q.deleteFrom('pairings').where('account', '=', account).where('user_id', '=', userId).executeTakeFirst();
  const requests = await tx.q.deleteFrom('pairing_requests').where('account', '=', account).where('user_id', '=', userId).executeTakeFirst();
  const denials = await tx.q.deleteFrom('denials').where('account', '=', account).where('user_id', '=', userId).executeTakeFirst();
  const proposals = await tx.q.deleteFrom('memory_proposals').where('account', '=', account).where('user_id', '=', userId).executeTakeFirst();
  const asked = await tx.q.deleteFrom('questions').where('account', '=', account).where('asker', '=', userId).executeTakeFirst();
  await tx.q.updateTable('questions').set({ answer: null, answered_by: null, answered_name: null }).where('account', '=', account).where('answered_by', '=', userId).execute();
  await tx.q.updateTable('pairings').set({ approved_by: 'erased' }).where('account', '=', account).where('approved_by', '=', userId).execute();
  await tx.q.updateTable('homes').set({ set_by: 'erased' }).where('account', '=', account).where('set_by', '=', userId).execute();
  await tx.q.updateTable('account_wishes').set({ changed_by: 'erased' }).where('account', '=', account).where('changed_by', '=', userId).execute();
  await tx.q.updateTable('grants').set({ granted_by: 'erased' }).where('granted_by', '=', userId).where('session_id', 'in', tx.q.selectFrom('sessions').select('id').where('account', '=', account)).execute();
  // A program that speaks through the API is known by its key.
  await tx.q.deleteFrom('api_replays').where('key_id', '=', userId).execute();
  await tx.q.deleteFrom('limits').where(endsWith('scope', `:${account}:${userId}`)).execute();
  return { pairings: Number(pairings.numDeletedRows), 'pairing requests': Number(requests.numDeletedRows), denials: Number(denials.numDeletedRows), 'memory proposals': Number(proposals.numDeletedRows), questions: Number(asked.numDeletedRows) };
};

/** Conversations that somebody handed over name them as the one who may take them back. */
const eraseFormer = async (tx: Writing, { account, userId }: Person): Promise<void> => {
  const rows = await tx.q.selectFrom('sessions').select(['id', 'settings']).where('settings', 'like', '%"former"%').execute();
  for (const { id, settings } of rows) {
    const read = JSON.parse(settings) as SessionSettings;
    const former = (read.former ?? []).filter((each) => each.account !== account || each.userId !== userId);
    if (former.length !== (read.former ?? []).length) await tx.q.updateTable('sessions').set({ settings: JSON.stringify({ ...read, former }) }).where('id', '=', id).execute();
  }
};

/** Whose files were about is not known once they are gone, and what was found out about any is only kept to be spared a second look. */
const forgetFiles = async (tx: Writing): Promise<void> => {
  await tx.q.deleteFrom('media_notes').where((eb) => eb.or([eb('key', 'like', 'transcript:%'), eb('key', 'like', 'image:%')])).execute();
};

/** Small enough that nobody waits noticeably for a step to end. */
const stepMessages = 500;

/** Erases what was found, in small transactions, so that a gateway can go on beside it. Running it again after a break does the rest; `scrub` takes it out of every file. */
export const erasePerson = async (store: Store, person: Person, data: PersonData): Promise<ErasedRows> => {
  await store.write(oweScrub);
  const counts = new Map<string, number>();
  const count = (more: Readonly<Record<string, number>>): void => {
    for (const [name, number] of Object.entries(more)) counts.set(name, (counts.get(name) ?? 0) + number);
  };
  for (const id of data.sessionIds) {
    for (let more = true; more; ) {
      const messages = await store.write((tx) => shortenSession(tx, id, stepMessages));
      count({ messages });
      more = messages === stepMessages;
    }
    count({ conversations: 1, messages: (await store.write((tx) => eraseSession(tx, id))).messages });
  }
  for (const [sessionId, rows] of Map.groupBy(data.shared, (row) => row.sessionId)) await store.write((tx) => eraseDerived(tx, sessionId, rows));
  for (const page of pagesOf(data.shared)) await store.write((tx) => eraseShared(tx, page.map(({ id }) => id)));
  count({ 'messages in shared conversations': data.shared.length });
  count({ 'quotes by others': await eraseQuotes(store, person, { data, mark: erasedText }) });
  for (const page of pagesOf(data.inboxIds)) await store.write((tx) => eraseArrivals(tx, page));
  for (const chatId of data.chatIds) count(await store.write((tx) => eraseChat(tx, person.account, chatId)));
  for (const page of pagesOf(data.jobIds)) {
    await store.write(async (tx) => {
      await tx.q.deleteFrom('cron_runs').where('job_id', 'in', page).execute();
      await tx.q.deleteFrom('cron_jobs').where('id', 'in', page).execute();
      for (const id of page) tx.notify('cron', `job:${id}`);
    });
  }
  count({ jobs: data.jobIds.length, arrivals: data.inboxIds.length });
  count(await store.write((tx) => eraseNames(tx, person)));
  await store.write((tx) => eraseFormer(tx, person));
  await store.write(forgetFiles);
  return Object.fromEntries([...counts].filter(([, number]) => number > 0));
};

/** Forgets what files said or showed, by the content of the files. */
export const eraseMediaNotes = async (tx: Writing, hashes: { readonly ofBytes: string; readonly ofBase64: string }): Promise<void> => {
  await oweScrub(tx);
  const prefix = `transcript:${hashes.ofBytes}:`;
  await tx.q.deleteFrom('media_notes').where((eb) => eb.or([eb('key', '=', `image:${hashes.ofBase64}`), sql<boolean>`substr(key, 1, ${prefix.length}) = ${prefix}`])).execute();
};

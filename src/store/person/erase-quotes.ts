import { sql } from 'kysely';
import type { InboundEvent } from '../../core/message.ts';
import { earlierHead, oneLine, withoutQuotesOf } from '../../core/quotes.ts';
import { messageSizeBytes } from '../../core/transcript.ts';
import { reindexMessage } from '../sessions/search.ts';
import type { Reading, Store, Writing } from '../store.ts';
import type { Person, PersonData } from './find-person.ts';

const likeText = (text: string): string => `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;

const has = (column: string, text: string) => sql<boolean>`${sql.ref(column)} like ${likeText(text)} escape '\\'`;

/** What arrived from others and quotes them, by their id. */
const quotingEvents = async (db: Reading, { account, userId }: Person): Promise<readonly { readonly id: number; readonly event: InboundEvent }[]> => {
  const id = JSON.stringify(userId);
  const rows = await db.q.selectFrom('inbox').select(['id', 'event']).where('account', '=', account).where((eb) => eb.or([has('event', `"authorId":${id}`), has('event', `"sender":{"id":${id}`)])).execute();
  return rows.map((row) => ({ id: row.id, event: JSON.parse(row.event) as InboundEvent })).filter(({ event }) => event.sender.id !== userId);
};

const isTheirs = (userId: string, { sender }: NonNullable<InboundEvent['earlier']>[number]): boolean => sender !== undefined && sender !== 'self' && sender.id === userId;

const withoutTheirs = (event: InboundEvent, userId: string, mark: string): InboundEvent => ({
  ...event,
  ...(event.replyTo?.authorId === userId && { replyTo: { messageId: event.replyTo.messageId, isOwn: event.replyTo.isOwn, text: mark } }),
  ...(event.earlier !== undefined && { earlier: event.earlier.map((each) => (isTheirs(userId, each) ? { author: 'somebody', text: mark } : each)) }),
});

const namesIn = ({ replyTo, earlier }: InboundEvent, userId: string): readonly string[] => [...(replyTo?.authorId === userId ? [replyTo.authorName] : []), ...(earlier ?? []).filter((each) => isTheirs(userId, each)).map(({ author }) => author)].filter((name) => name !== undefined);

/** By which they are quoted in conversations. */
const namesOf = async (db: Reading, person: Person, data: PersonData): Promise<ReadonlySet<string>> => {
  const quoting = await quotingEvents(db, person);
  const names = [...data.names, ...quoting.flatMap(({ event }) => namesIn(event, person.userId)), ...data.shared.flatMap(({ content }) => /^\[([^\]\n]+)\] /.exec(content)?.[1] ?? [])];
  return new Set(names.map(oneLine).filter((name) => name !== '' && name !== 'somebody'));
};

const eraseIn = async (tx: Writing, row: { readonly id: number; readonly content: string; readonly size: number }, content: string): Promise<void> => {
  const size = row.size + messageSizeBytes({ role: 'user', content }) - messageSizeBytes({ role: 'user', content: row.content });
  await tx.q.updateTable('messages').set({ content, size }).where('id', '=', row.id).execute();
  await reindexMessage(tx, row.id, content);
};

/** Takes what others have quoted of somebody out of the others' messages, by the names under which it stands there. Answers in how many. */
export const eraseQuotes = async (store: Store, person: Person, to: { readonly data: PersonData; readonly mark: string }): Promise<number> => {
  const names = await store.read((db) => namesOf(db, person, to.data));
  let count = 0;
  for (const name of names) {
    const rows = await store.read((db) =>
      db.q
        .selectFrom('messages')
        .innerJoin('sessions', 'sessions.id', 'messages.session_id')
        .select(['messages.id', 'messages.content', 'messages.size'])
        .where('sessions.account', '=', person.account)
        .where('messages.role', '=', 'user')
        .where((eb) => eb.or([has('messages.content', `[In reply to a message by ${name}: "`), eb.and([has('messages.content', earlierHead), has('messages.content', `\n${name}: "`)])]))
        .execute(),
    );
    for (const row of rows) {
      const content = withoutQuotesOf(name, row.content, to.mark);
      if (content === row.content) continue;
      await store.write((tx) => eraseIn(tx, row, content));
      count += 1;
    }
  }
  for (const { id, event } of await store.read((db) => quotingEvents(db, person))) await store.write((tx) => tx.q.updateTable('inbox').set({ event: JSON.stringify(withoutTheirs(event, person.userId, to.mark)) }).where('id', '=', id).execute());
  return count;
};

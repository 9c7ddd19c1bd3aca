import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Reading, Store, Writing } from '../store.ts';
import type { Attempt } from './outbox.ts';

/** Mail servers give up after five days at the latest. */
const reachMs = 8 * 24 * 3600 * 1000;
/** Small enough that nobody waits noticeably for a page to be read. */
const pageSize = 1000;

interface Returned {
  readonly account: string;
  readonly messageId: string;
  readonly reason: string;
}

interface Page {
  readonly found: number | undefined;
  /** Where the next page begins; undefined when there is none. */
  readonly before: number | undefined;
}

const lookThrough = async (db: Reading, { account, messageId }: Returned, before: number): Promise<Page> => {
  const needle = JSON.stringify(messageId);
  const position = db.engine === 'sqlite' ? sql<number>`instr(message_ids, ${needle})` : sql<number>`strpos(message_ids, ${needle})`;
  const isIt = sql<number>`case when account = ${account} and state in ('sent', 'failed') and ${position} > 0 then 1 else 0 end`;
  const rows = await db.q.selectFrom('outbox').select(['id', isIt.as('is_it'), sql<number>`${db.now} - created_at`.as('age_ms')]).where('id', '<', before).orderBy('id', 'desc').limit(pageSize).execute();
  const last = rows.at(-1);
  return { found: rows.find((row) => row.is_it === 1)?.id, before: rows.length < pageSize || Number(last?.age_ms) > reachMs ? undefined : last?.id };
};

/** Newest first, page by page: whoever can send mail can send notices, and nobody is to wait for what they look for. */
const findDelivery = async (store: Store, message: Returned): Promise<number | undefined> => {
  for (let before: number | undefined = Number.MAX_SAFE_INTEGER; before !== undefined; ) {
    const from: number = before;
    const page = await store.read((db) => lookThrough(db, message, from));
    if (page.found !== undefined) return page.found;
    before = page.before;
    await nextTurn();
  }
  return undefined;
};

const fail = async (tx: Writing, id: number, reason: string): Promise<void> => {
  const row = await tx.q.selectFrom('outbox').select(['log', tx.now.as('now')]).where('id', '=', id).where('state', '=', 'sent').executeTakeFirst();
  if (row === undefined) return;
  const log = [...(JSON.parse(row.log) as Attempt[]), { atMs: Number(row.now), outcome: 'returned', detail: reason } satisfies Attempt];
  await tx.q.updateTable('outbox').set({ state: 'failed', error: reason, log: JSON.stringify(log), updated_at: tx.now }).where('id', '=', id).execute();
};

/**
 * A message that the platform had taken did not reach anybody: its delivery has failed after all. Answers whether there is such a delivery; to be told
 * twice changes nothing.
 */
export const markReturned = async (store: Store, message: Returned): Promise<boolean> => {
  const id = await findDelivery(store, message);
  if (id === undefined) return false;
  await store.write((tx) => fail(tx, id, message.reason));
  return true;
};

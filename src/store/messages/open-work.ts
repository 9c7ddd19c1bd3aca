import type { OutboundMedia } from '../../core/message.ts';
import type { Reading, Writing } from '../store.ts';
import { outgoingPath } from './outgoing-path.ts';
import type { Delivery } from './outbox.ts';

export interface OpenWork {
  /** Messages that are not answered yet. */
  readonly messages: number;
  /** Answers that are not delivered yet. */
  readonly deliveries: number;
}

const openInbox = ['waiting', 'running'] as const;
const openOutbox = ['pending', 'sending', 'unknown'] as const;

/** What the next gateway on this database takes up where the last one stopped. */
export const countOpenWork = async (db: Reading): Promise<OpenWork> => {
  const messages = await db.q.selectFrom('inbox').select((eb) => eb.fn.countAll<number>().as('count')).where('state', 'in', openInbox).executeTakeFirst();
  const deliveries = await db.q.selectFrom('outbox').select((eb) => eb.fn.countAll<number>().as('count')).where('state', 'in', openOutbox).executeTakeFirst();
  return { messages: Number(messages?.count ?? 0), deliveries: Number(deliveries?.count ?? 0) };
};

/** Lets go of all of it, for a database that stands for a past which has gone on without it. Nobody may be working on it. */
export const dropOpenWork = async (tx: Writing, reason: string): Promise<void> => {
  await tx.q.updateTable('inbox').set({ state: 'skipped', reason, done_at: tx.now }).where('state', 'in', openInbox).execute();
  await tx.q.updateTable('outbox').set({ state: 'cancelled', error: reason, updated_at: tx.now }).where('state', 'in', openOutbox).execute();
  await tx.q.updateTable('turns').set({ state: 'done', exit_reason: 'stopped', error: reason, ended_at: tx.now }).where('state', '=', 'running').execute();
  await tx.q.updateTable('questions').set({ state: 'withdrawn' }).where('state', '=', 'open').execute();
  await tx.q.updateTable('lanes').set({ has_work: 0 }).where('kind', 'in', ['turn', 'out']).execute();
};

/** Lets what is not delivered yet find its files in another home. */
export const moveOpenFiles = async (tx: Writing, mediaFolder: string): Promise<void> => {
  const here = <Part extends { readonly media?: readonly OutboundMedia[] }>(part: Part): Part => (part.media === undefined ? part : { ...part, media: part.media.map((file) => ({ ...file, path: outgoingPath(mediaFolder, file.path) ?? file.path })) });
  const rows = await tx.q.selectFrom('outbox').select(['id', 'payload']).where('state', 'in', openOutbox).where('payload', 'like', '%"media"%').execute();
  for (const { id, payload } of rows) {
    const delivery = JSON.parse(payload) as Delivery;
    const moved: Delivery = { ...delivery, message: here(delivery.message), ...(delivery.closing !== undefined && { closing: here(delivery.closing) }) };
    await tx.q.updateTable('outbox').set({ payload: JSON.stringify(moved) }).where('id', '=', id).execute();
  }
};

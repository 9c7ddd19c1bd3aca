import { sql } from 'kysely';
import type { ChatType, InboundEvent, Target } from '../../core/message.ts';
import { turnLane } from '../lanes/lanes.ts';
import type { ChannelRow } from '../schema/reach-rows.ts';
import { inMs } from '../store.ts';
import type { Reading, Writing } from '../store.ts';

/** A chat, or a thread in one, that can be found by its name. */
export interface Channel {
  readonly account: string;
  readonly chatId: string;
  readonly threadId?: string;
  readonly name?: string;
  readonly chatType: ChatType;
  readonly scopeId?: string;
  /** Of the workspace or guild. */
  readonly scopeName?: string;
}

export interface KnownChannel extends Channel {
  /** The platform itself names it. */
  readonly listed: boolean;
  /** When somebody last spoke there. */
  readonly spokenAtMs?: number;
}

export interface SpokenChannel extends Channel {
  readonly spokenAtMs: number;
}

/** Where to go on among the conversations, in the order in which they were last spoken in. */
export interface SpokenCursor {
  readonly spokenAtMs: number;
  readonly sessionId: string;
}

const keyOf = ({ account, chatId, threadId }: Channel) => ({ account, chat_id: chatId, thread_id: threadId ?? '' });

const factsOf = (channel: Channel) => ({ name: channel.name ?? null, chat_type: channel.chatType, scope_id: channel.scopeId ?? null, scope_name: channel.scopeName ?? null });

/** Keeps where people have spoken. A name that the platform itself gives stays; one that nobody knows any more stays too. */
export const keepSpoken = async (tx: Writing, channels: readonly SpokenChannel[]): Promise<void> => {
  for (const channel of channels) {
    await tx.q
      .insertInto('channels')
      .values({ ...keyOf(channel), ...factsOf(channel), listed: 0, spoken_at: channel.spokenAtMs })
      .onConflict((conflict) =>
        conflict.columns(['account', 'chat_id', 'thread_id']).doUpdateSet((eb) => ({
          name: sql<string | null>`case when channels.listed = 1 then channels.name else coalesce(excluded.name, channels.name) end`,
          chat_type: eb.ref('excluded.chat_type'),
          scope_id: sql<string | null>`coalesce(excluded.scope_id, channels.scope_id)`,
          spoken_at: eb.ref('excluded.spoken_at'),
        })),
      )
      .execute();
  }
};

/** Takes over what a platform says that an account can reach. What it names no more is forgotten, unless people have spoken there. */
export const replaceListed = async (tx: Writing, account: string, channels: readonly Omit<Channel, 'account'>[]): Promise<void> => {
  await tx.q.updateTable('channels').set({ listed: 0 }).where('account', '=', account).where('listed', '=', 1).execute();
  for (const channel of channels) {
    const facts = { ...factsOf({ ...channel, account }), listed: 1 };
    await tx.q
      .insertInto('channels')
      .values({ ...keyOf({ ...channel, account }), ...facts, spoken_at: null })
      .onConflict((conflict) => conflict.columns(['account', 'chat_id', 'thread_id']).doUpdateSet(facts))
      .execute();
  }
  await tx.q.deleteFrom('channels').where('account', '=', account).where('listed', '=', 0).where('spoken_at', 'is', null).execute();
};

/** Forgets chats in which nobody has spoken for so long and which no platform names. */
export const forgetSilentChannels = async (tx: Writing, silentMs: number): Promise<void> => {
  await tx.q.deleteFrom('channels').where('listed', '=', 0).where('spoken_at', '<', inMs(tx, -silentMs)).execute();
};

const toChannel = (row: ChannelRow): KnownChannel => ({
  account: row.account,
  chatId: row.chat_id,
  ...(row.thread_id !== '' && { threadId: row.thread_id }),
  ...(row.name !== null && { name: row.name }),
  chatType: row.chat_type as ChatType,
  ...(row.scope_id !== null && { scopeId: row.scope_id }),
  ...(row.scope_name !== null && { scopeName: row.scope_name }),
  listed: row.listed === 1,
  ...(row.spoken_at !== null && { spokenAtMs: row.spoken_at }),
});

export interface ChannelFilter {
  readonly account?: string;
  readonly limit: number;
}

/** Those that were spoken in last come first. */
export const listChannels = async (db: Reading, { account, limit }: ChannelFilter): Promise<KnownChannel[]> => {
  let query = db.q.selectFrom('channels').selectAll();
  if (account !== undefined) query = query.where('account', '=', account);
  const rows = await query.orderBy(sql`coalesce(spoken_at, 0)`, 'desc').orderBy('account').orderBy('chat_id').orderBy('thread_id').limit(limit).execute();
  return rows.map(toChannel);
};

/** Whether and how a chat is known, whichever of its threads that is from. */
export const findChannel = async (db: Reading, chat: { readonly account: string; readonly chatId: string }): Promise<KnownChannel | undefined> => {
  const row = await db.q.selectFrom('channels').selectAll().where('account', '=', chat.account).where('chat_id', '=', chat.chatId).orderBy('thread_id').limit(1).executeTakeFirst();
  return row === undefined ? undefined : toChannel(row);
};

/** Up to where the conversations have been looked through. */
export const newestSpoken = async (db: Reading): Promise<SpokenCursor> => {
  const row = await db.q.selectFrom('channels').select('spoken_at').where('spoken_at', 'is not', null).orderBy('spoken_at', 'desc').limit(1).executeTakeFirst();
  return { spokenAtMs: row?.spoken_at ?? 0, sessionId: '' };
};

/** So many of the last messages are looked at for what a chat is called. */
const lookedAt = 5;

const isFrom = (event: InboundEvent, target: Target): boolean =>
  event.kind === 'message' && event.account === target.account && event.chat.id === target.chatId && event.chat.threadId === target.threadId;

/** What people call the chat: a direct one is called like the person, a thread by its topic. */
const nameIn = ({ chat, sender }: InboundEvent): string | undefined => {
  if (chat.threadId !== undefined) return chat.topic;
  return chat.type === 'dm' ? (chat.name ?? sender.name) : chat.name;
};

const nameOf = async (db: Reading, sessionId: string, target: Target): Promise<string | undefined> => {
  const rows = await db.q.selectFrom('inbox').select('event').where('lane', '=', turnLane(sessionId)).where('state', '=', 'done').where('class', '=', 'chat').orderBy('id', 'desc').limit(lookedAt).execute();
  for (const row of rows) {
    const event = JSON.parse(row.event) as InboundEvent;
    const name = isFrom(event, target) ? nameIn(event) : undefined;
    if (name !== undefined && name.trim() !== '') return name;
  }
  return undefined;
};

/** The places of conversations that were spoken in from the cursor on, and where to go on; no cursor when that was all. */
export const spokenFrom = async (db: Reading, from: SpokenCursor, limit: number): Promise<{ readonly channels: readonly SpokenChannel[]; readonly next?: SpokenCursor }> => {
  const sessions = await db.q
    .selectFrom('sessions')
    .select(['id', 'active_at'])
    .where((eb) => eb.or([eb('active_at', '>', from.spokenAtMs), eb.and([eb('active_at', '=', from.spokenAtMs), eb('id', '>', from.sessionId)])]))
    .orderBy('active_at')
    .orderBy('id')
    .limit(limit)
    .execute();
  const channels: SpokenChannel[] = [];
  for (const { id, active_at } of sessions) {
    const bindings = await db.q.selectFrom('bindings').select('target').where('session_id', '=', id).execute();
    for (const binding of bindings) {
      const target = JSON.parse(binding.target) as Target;
      const name = await nameOf(db, id, target);
      channels.push({
        account: target.account,
        chatId: target.chatId,
        chatType: target.chatType,
        ...(target.threadId !== undefined && { threadId: target.threadId }),
        ...(target.scopeId !== undefined && { scopeId: target.scopeId }),
        ...(name !== undefined && { name }),
        spokenAtMs: active_at,
      });
    }
  }
  const last = sessions.at(-1);
  return { channels, ...(last !== undefined && sessions.length === limit && { next: { spokenAtMs: last.active_at, sessionId: last.id } }) };
};

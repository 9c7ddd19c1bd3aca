import { sql } from 'kysely';
import type { Target } from '../../core/message.ts';
import { keyInChat } from '../../core/session-key.ts';
import { findHome } from './homes.ts';
import { chatInTarget } from '../migrations.ts';
import { bindSession, boundSession, lockSessionKey } from './sessions.ts';
import type { Binding } from './sessions.ts';
import type { Writing } from '../store.ts';

/** A chat that goes on under another id. */
export interface MovingChat {
  readonly account: string;
  readonly from: string;
  readonly to: string;
  /** The threads of the old one do not exist in the new one. */
  readonly withoutThreads: boolean;
}

/** How many living conversations the new chat continues by this, and how many it cannot. */
export interface MovedPlaces {
  readonly moved: number;
  readonly stayed: number;
}

const inNewChat = ({ replyTo: _old, ...target }: Target, to: string): Target => ({ ...target, chatId: to });

const mayMove = (target: Target, { from, withoutThreads }: MovingChat): boolean => target.chatId === from && !(withoutThreads && target.threadId !== undefined);

/** The old place stays bound as well: whoever still speaks there continues the same conversation. */
const bindInNewChat = async (tx: Writing, { sessionKey, sessionId, target }: Binding, move: MovingChat): Promise<'moved' | 'stayed' | 'there'> => {
  const key = mayMove(target, move) ? keyInChat(sessionKey, { ...move, scopeId: target.scopeId }) : undefined;
  if (key === undefined) return 'stayed';
  await lockSessionKey(tx, key);
  const there = await boundSession(tx, key);
  if (there !== undefined) return there.sessionId === sessionId ? 'there' : 'stayed';
  await bindSession(tx, { sessionKey: key, sessionId, target: inNewChat(target, move.to) });
  return 'moved';
};

const moveBindings = async (tx: Writing, move: MovingChat): Promise<MovedPlaces> => {
  const rows = await tx.q
    .selectFrom('bindings')
    .innerJoin('sessions', 'sessions.id', 'bindings.session_id')
    .select(['bindings.session_key', 'bindings.session_id', 'bindings.target', 'sessions.ended_at'])
    .where('bindings.account', '=', move.account)
    .where(sql<string>`${sql.raw(chatInTarget(tx.engine))}`, '=', move.from)
    .orderBy('bindings.session_key')
    .execute();
  const count = { moved: 0, stayed: 0, there: 0 };
  for (const row of rows) {
    const outcome = await bindInNewChat(tx, { sessionKey: row.session_key, sessionId: row.session_id, target: JSON.parse(row.target) as Target }, move);
    if (row.ended_at === null) count[outcome] += 1;
  }
  return { moved: count.moved, stayed: count.stayed };
};

/** Conversations that wait for whoever speaks first wait in the new chat, unless another waits there. */
const moveClaims = async (tx: Writing, { account, from, to, withoutThreads }: MovingChat): Promise<void> => {
  const rows = await tx.q.selectFrom('place_claims').selectAll().where('account', '=', account).where('chat_id', '=', from).execute();
  for (const row of rows.filter(({ thread_id }) => thread_id === '' || !withoutThreads)) {
    await tx.q.insertInto('place_claims').values({ ...row, chat_id: to }).onConflict((conflict) => conflict.doNothing()).execute();
    await tx.q.deleteFrom('place_claims').where('account', '=', account).where('chat_id', '=', from).where('thread_id', '=', row.thread_id).execute();
  }
};

/** Answers will come from the new chat. */
const moveQuestions = async (tx: Writing, move: MovingChat): Promise<void> => {
  const rows = await tx.q.selectFrom('questions').select(['id', 'target']).where('state', '=', 'open').where('account', '=', move.account).where('chat_id', '=', move.from).execute();
  for (const { id, target } of rows) {
    const { threadId, ...place } = inNewChat(JSON.parse(target) as Target, move.to);
    const there: Target = { ...place, ...(threadId !== undefined && !move.withoutThreads && { threadId }) };
    await tx.q.updateTable('questions').set({ chat_id: move.to, target: JSON.stringify(there) }).where('id', '=', id).execute();
  }
};

const moveHome = async (tx: Writing, move: MovingChat): Promise<void> => {
  const home = await findHome(tx, move.account);
  if (home === undefined || !mayMove(home.target, move)) return;
  await tx.q.updateTable('homes').set({ target: JSON.stringify(inNewChat(home.target, move.to)) }).where('account', '=', move.account).execute();
};

/** Whoever names the chat means the new one. */
const moveName = async (tx: Writing, { account, from, to }: MovingChat): Promise<void> => {
  const old = await tx.q.selectFrom('channels').selectAll().where('account', '=', account).where('chat_id', '=', from).where('thread_id', '=', '').executeTakeFirst();
  if (old === undefined) return;
  await tx.q.insertInto('channels').values({ ...old, chat_id: to }).onConflict((conflict) => conflict.doNothing()).execute();
  await tx.q.deleteFrom('channels').where('account', '=', account).where('chat_id', '=', from).where('thread_id', '=', '').execute();
};

/** Everything that is kept of a chat and leads to it leads to the new one. What was already moved, and what the new one has of its own, stays as it is. */
export const moveChatPlaces = async (tx: Writing, move: MovingChat): Promise<MovedPlaces> => {
  const places = await moveBindings(tx, move);
  await moveClaims(tx, move);
  await moveQuestions(tx, move);
  await moveHome(tx, move);
  await moveName(tx, move);
  return places;
};

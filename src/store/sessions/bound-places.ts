import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Target } from '../../core/message.ts';
import { chatInTarget } from '../migrations.ts';
import type { Reading } from '../store.ts';

/** A conversation that a chat continues. */
export interface BoundPlace {
  readonly sessionId: string;
  readonly agent: string;
  /** Whose conversation it is; nobody's alone when several people share it. */
  readonly userId: string | null;
  readonly target: Target;
}

const chatOf = (db: Reading): RawBuilder<string> => sql<string>`${sql.raw(chatInTarget(db.engine))}`;

/** The living conversations of a chat and its threads, the one that was bound last first. */
export const placesIn = async (db: Reading, chat: { readonly account: string; readonly chatId: string }): Promise<BoundPlace[]> => {
  const rows = await db.q
    .selectFrom('bindings')
    .innerJoin('sessions', 'sessions.id', 'bindings.session_id')
    .select(['bindings.session_id', 'bindings.target', 'sessions.agent', 'sessions.user_id'])
    .where('bindings.account', '=', chat.account)
    .where(chatOf(db), '=', chat.chatId)
    .where('sessions.ended_at', 'is', null)
    .orderBy('bindings.updated_at', 'desc')
    .execute();
  return rows.map((row) => ({ sessionId: row.session_id, agent: row.agent, userId: row.user_id, target: JSON.parse(row.target) as Target }));
};

/** The living conversations that other agents have at the very place that a session key names. A route that was changed leaves such behind. */
export const placesOfOtherAgents = async (db: Reading, sessionKey: string, chat: { readonly account: string; readonly chatId: string }): Promise<string[]> => {
  const place = sessionKey.replace(/^agent:[^:]+:/, '');
  const rows = await db.q
    .selectFrom('bindings')
    .innerJoin('sessions', 'sessions.id', 'bindings.session_id')
    .select(['bindings.session_id', 'bindings.session_key'])
    .where('bindings.account', '=', chat.account)
    .where(chatOf(db), '=', chat.chatId)
    .where('sessions.ended_at', 'is', null)
    .execute();
  return rows.filter((row) => row.session_key !== sessionKey && row.session_key.replace(/^agent:[^:]+:/, '') === place).map((row) => row.session_id);
};

/** Where conversations of one person stand, ended or not. */
export const placesOf = async (db: Reading, person: { readonly account: string; readonly userId: string }): Promise<Target[]> => {
  const rows = await db.q
    .selectFrom('bindings')
    .innerJoin('sessions', 'sessions.id', 'bindings.session_id')
    .select('bindings.target')
    .where('sessions.account', '=', person.account)
    .where('sessions.user_id', '=', person.userId)
    .execute();
  return rows.map((row) => JSON.parse(row.target) as Target);
};

/** A chat as somebody's message described it last, whether or not that conversation has ended. */
export const knownTarget = async (db: Reading, chat: { readonly account: string; readonly chatId: string }): Promise<Target | undefined> => {
  const row = await db.q.selectFrom('bindings').select('target').where('account', '=', chat.account).where(chatOf(db), '=', chat.chatId).orderBy('updated_at', 'desc').limit(1).executeTakeFirst();
  return row === undefined ? undefined : (JSON.parse(row.target) as Target);
};

import { expressionBuilder, sql } from 'kysely';
import type { Expression, SqlBool } from 'kysely';
import type { Target } from '../../core/message.ts';
import type { Role } from '../../core/transcript.ts';
import { turnLane } from '../lanes/lanes.ts';
import type { Tables } from '../schema.ts';
import type { Reading } from '../store.ts';
import { findSession } from './sessions.ts';
import type { Session } from './sessions.ts';

/**
 * Which conversations may be looked at from a place: the one that is held there, those of everybody that were held there before, and those of the person who
 * speaks. Where others read along, what the person said in private is not among them. Nobody ever sees a conversation of somebody else.
 */
export interface Sight {
  readonly agent: string;
  readonly sessionIds: readonly string[];
  readonly person?: { readonly account: string; readonly userId: string; readonly inPrivate: boolean };
}

export interface Viewpoint {
  readonly sessionId: string;
  readonly target: Target;
  /** Whose message is answered. */
  readonly userId?: string;
}

const mostAncestors = 50;

/** Where a conversation was held last, as far as that is still known. */
const lastTarget = async (db: Reading, sessionId: string): Promise<Target | undefined> => {
  const row = await db.q.selectFrom('turns').select('target').where('state', '=', 'done').where('lane', '=', turnLane(sessionId)).orderBy('id', 'desc').limit(1).executeTakeFirst();
  return row === undefined ? undefined : (JSON.parse(row.target) as Target);
};

const isSamePlace = (a: Target, b: Target | undefined): boolean => a.account === b?.account && a.chatId === b.chatId && (a.threadId ?? '') === (b.threadId ?? '');

/** The conversations of everybody that this one follows, as far back as they were held in the same place. */
const heldBefore = async (db: Reading, session: Session, target: Target): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (let { parentId } = session; parentId !== null && ids.length < mostAncestors && !ids.includes(parentId); ) {
    const parent = await findSession(db, parentId);
    if (parent === undefined || parent.agent !== session.agent || parent.userId !== null || !isSamePlace(target, await lastTarget(db, parent.id))) break;
    ids.push(parent.id);
    ({ parentId } = parent);
  }
  return ids;
};

/** Undefined for a conversation that does not exist. */
export const sightFrom = async (db: Reading, { sessionId, target, userId }: Viewpoint): Promise<Sight | undefined> => {
  const session = await findSession(db, sessionId);
  if (session === undefined) return undefined;
  const { agent } = session;
  if (session.userId === null) return { agent, sessionIds: [sessionId, ...(await heldBefore(db, session, target))] };
  return { agent, sessionIds: [sessionId], ...(userId !== undefined && { person: { account: target.account, userId, inPrivate: target.chatType === 'dm' } }) };
};

/** The condition for a row of `sessions`. */
export const inSight = ({ agent, sessionIds, person }: Sight): Expression<SqlBool> => {
  const eb = expressionBuilder<Tables, 'sessions'>();
  const named = eb('sessions.id', 'in', [...sessionIds]);
  if (person === undefined) return eb.and([eb('sessions.agent', '=', agent), named]);
  const own = [eb('sessions.account', '=', person.account), eb('sessions.user_id', '=', person.userId), ...(person.inPrivate ? [] : [eb('sessions.chat_type', '!=', 'dm')])];
  return eb.and([eb('sessions.agent', '=', agent), eb.or([named, eb.and(own)])]);
};

/** The conversation with this id, if it may be looked at. */
export const sessionInSight = async (db: Reading, sight: Sight, id: string): Promise<Session | undefined> => {
  const row = await db.q.selectFrom('sessions').select('sessions.id').where('sessions.id', '=', id).where(inSight(sight)).executeTakeFirst();
  return row === undefined ? undefined : findSession(db, row.id);
};

/** Those with the newest message first. */
export const recentInSight = async (db: Reading, sight: Sight, limit: number): Promise<readonly Session[]> => {
  const rows = await db.q.selectFrom('sessions').select('sessions.id').where(inSight(sight)).where('message_count', '>', 0).orderBy('active_at', 'desc').limit(limit).execute();
  const sessions = await Promise.all(rows.map((row) => findSession(db, row.id)));
  return sessions.filter((session) => session !== undefined);
};

/** What somebody said in words. */
export interface Said {
  readonly id: number;
  readonly role: Role;
  /** Its beginning, when it is long. */
  readonly content: string;
  /** Of all of it. */
  readonly lengthChars: number;
  readonly createdAtMs: number;
}

const mostChars = 4000;

export type Stretch = { readonly beforeId: number; readonly limit: number } | { readonly fromId: number; readonly limit: number };

/** A stretch of a conversation in words, oldest first: archived messages are part of it, undone ones and those of tools are not. */
export const saidIn = async (db: Reading, sessionId: string, stretch: Stretch): Promise<readonly Said[]> => {
  const backwards = 'beforeId' in stretch;
  const rowsOf = (active: 0 | 1) => {
    let rows = db.q
      .selectFrom('messages')
      .select(['id', 'role', sql<string>`substr(content, 1, ${mostChars})`.as('content'), sql<number>`length(content)`.as('length'), 'created_at'])
      .where('session_id', '=', sessionId)
      .where('active', '=', active)
      .where('role', 'in', ['user', 'assistant'])
      .where('content', '!=', '');
    rows = backwards ? rows.where('id', '<', stretch.beforeId) : rows.where('id', '>=', stretch.fromId);
    if (active === 0) rows = rows.where('compression_id', 'is not', null);
    return rows.orderBy('id', backwards ? 'desc' : 'asc').limit(stretch.limit).execute();
  };
  const rows = [...(await rowsOf(1)), ...(await rowsOf(0))].toSorted((a, b) => (backwards ? b.id - a.id : a.id - b.id)).slice(0, stretch.limit);
  return rows.toSorted((a, b) => a.id - b.id).map((row) => ({ id: row.id, role: row.role as Role, content: row.content, lengthChars: Number(row.length), createdAtMs: row.created_at }));
};

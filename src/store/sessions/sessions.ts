import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { ChatType, Target } from '../../core/message.ts';
import type { ReasoningEffort } from '../../core/reasoning-effort.ts';
import type { Usage } from '../../core/transcript.ts';
import { prepared } from '../prepared.ts';
import type { SessionRow } from '../schema/conversation-rows.ts';
import { startsWith } from '../store.ts';
import type { Reading, Writing } from '../store.ts';
import { noteSessionEnd } from './session-ends.ts';

export interface Binding {
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly target: Target;
}

export interface Session {
  readonly id: string;
  readonly agent: string;
  readonly account: string;
  readonly chatType: ChatType;
  readonly userId: string | null;
  readonly title: string | null;
  readonly createdAtMs: number;
  readonly activeAtMs: number;
  readonly endedAtMs: number | null;
  readonly endReason: string | null;
  readonly parentId: string | null;
  readonly model: string | null;
  readonly settings: SessionSettings;
  readonly messageCount: number;
  readonly turnCount: number;
  readonly usage: Usage;
  /** What the model counted when it last read this conversation. */
  readonly prompt?: PromptCount;
  readonly contextFacts?: ContextFacts;
}

/** Tokens as the model itself counted them, prompt and tools included, and the newest message that was among them. */
export interface PromptCount {
  readonly tokens: number;
  readonly throughId: number;
}

/** Of the model that answered last, in tokens. */
export interface ContextFacts {
  readonly window: number;
  /** From here on, what was said is summarised. */
  readonly threshold: number;
  readonly system: number;
  readonly tools: number;
}

/** What a person set for one conversation. */
export interface SessionSettings {
  readonly busyMode?: 'interrupt' | 'queue' | 'steer';
  readonly model?: string;
  /** Only these toolsets, of those that there are. */
  readonly toolsets?: readonly string[];
  /** Where the agent works in it, absolute, instead of its workspace. */
  readonly workdir?: string;
  /** The name of a way of speaking. */
  readonly personality?: string;
  /** Whether the line with facts stands under answers. */
  readonly footer?: boolean;
  readonly toolProgress?: 'off' | 'new' | 'all' | 'verbose';
  /** Whether what the model thought stands above its answers. */
  readonly showReasoning?: boolean;
  /** Whether all of it stands there, and not only the beginning. */
  readonly fullReasoning?: boolean;
  /** Which answers are spoken as well: none, those to spoken messages, or all. */
  readonly voice?: 'off' | 'voice_only' | 'all';
  readonly reasoningEffort?: ReasoningEffort;
  /** What the agent is told on top of its own instructions. */
  readonly instructions?: string;
  /** Who had the conversation before it was handed over; they may take it back. */
  readonly former?: readonly { readonly account: string; readonly userId: string }[];
  /** What /sessions showed last, so that a number means what the person saw. */
  readonly listed?: readonly string[];
}

/** Why a conversation ended. */
export type EndReason = 'new' | 'idle' | 'daily' | 'switched' | 'branched' | 'closed';

export interface NewSession {
  readonly id: string;
  readonly agent: string;
  readonly account: string;
  readonly chatType: ChatType;
  readonly userId?: string;
  readonly parentId?: string;
  readonly title?: string;
}

const toSession = (row: Selectable<SessionRow>): Session => ({
  id: row.id,
  agent: row.agent,
  account: row.account,
  chatType: row.chat_type as ChatType,
  userId: row.user_id,
  title: row.title,
  createdAtMs: row.created_at,
  activeAtMs: row.active_at,
  endedAtMs: row.ended_at,
  endReason: row.end_reason,
  parentId: row.parent_id,
  model: row.model,
  settings: JSON.parse(row.settings) as SessionSettings,
  messageCount: row.message_count,
  turnCount: row.turn_count,
  usage: {
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cacheReadTokens: row.cache_read_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    reasoningTokens: row.reasoning_tokens,
    ...(row.cost_usd !== null && { cost: { usd: row.cost_usd, status: row.cost_status ?? 'estimated' } }),
  },
  ...(row.prompt_tokens !== null && row.prompt_through !== null && { prompt: { tokens: row.prompt_tokens, throughId: row.prompt_through } }),
  ...(row.context_facts !== null && { contextFacts: JSON.parse(row.context_facts) as ContextFacts }),
});

export const createSession = async (tx: Writing, session: NewSession): Promise<void> => {
  await tx.q
    .insertInto('sessions')
    .values({
      id: session.id,
      agent: session.agent,
      account: session.account,
      chat_type: session.chatType,
      user_id: session.userId ?? null,
      title: session.title ?? null,
      created_at: tx.now,
      active_at: tx.now,
      ended_at: null,
      end_reason: null,
      parent_id: session.parentId ?? null,
      model: null,
      settings: '{}',
    })
    .execute();
};

export const findSession = async (db: Reading, id: string): Promise<Session | undefined> => {
  const [row] = (await selectSession(db, { id })).rows;
  return row === undefined ? undefined : toSession(row);
};

const selectSession = prepared((db, of: { id: string }) => db.q.selectFrom('sessions').selectAll().where('id', '=', of.id));

/** Until the end of the transaction, nobody else opens or moves the conversation of this place. */
export const lockSessionKey = async (tx: Writing, sessionKey: string): Promise<void> => {
  if (tx.engine === 'postgres') await sql`select pg_advisory_xact_lock(hashtext(${`session:${sessionKey}`}))`.execute(tx.q);
};

export interface BoundSession extends Binding {
  /** Whose it is; null when several speak in it, and while nobody has spoken since it was handed over. */
  readonly userId: string | null;
  readonly activeAtMs: number;
  readonly nowMs: number;
  /** Null while it has not ended. */
  readonly endReason: string | null;
}

/** The conversation that a place continues, if it has one. */
export const boundSession = async (db: Reading, sessionKey: string): Promise<BoundSession | undefined> => {
  const [row] = (await selectBound(db, { sessionKey })).rows;
  if (row === undefined) return undefined;
  return { sessionKey, sessionId: row.session_id, target: JSON.parse(row.target) as Target, userId: row.user_id, activeAtMs: row.active_at, nowMs: Number(row.now), endReason: row.ended_at === null ? null : row.end_reason };
};

const selectBound = prepared((db, at: { sessionKey: string }) =>
  db.q
    .selectFrom('bindings')
    .innerJoin('sessions', 'sessions.id', 'bindings.session_id')
    .select(['bindings.session_key', 'bindings.session_id', 'bindings.target', 'sessions.user_id', 'sessions.active_at', 'sessions.ended_at', 'sessions.end_reason', db.now.as('now')])
    .where('bindings.session_key', '=', at.sessionKey),
);

/** Points a place at a conversation. The target is kept so that the place can be reached later. */
export const bindSession = async (tx: Writing, binding: Binding): Promise<void> => {
  const values = { session_id: binding.sessionId, account: binding.target.account, target: JSON.stringify(binding.target), updated_at: tx.now };
  await tx.q
    .insertInto('bindings')
    .values({ session_key: binding.sessionKey, ...values })
    .onConflict((conflict) => conflict.column('session_key').doUpdateSet(values))
    .execute();
};

/** The conversation belongs to this person from now on. */
export const giveSession = async (tx: Writing, id: string, userId: string): Promise<void> => {
  await tx.q.updateTable('sessions').set({ user_id: userId }).where('id', '=', id).execute();
};

/** The conversation lives somewhere else from now on. */
export const moveSession = async (tx: Writing, id: string, to: { account: string; chatType: ChatType; userId: string | null }): Promise<void> => {
  await tx.q.updateTable('sessions').set({ account: to.account, chat_type: to.chatType, user_id: to.userId, active_at: tx.now }).where('id', '=', id).execute();
};

/** The place begins a new conversation with its next message. */
export const unbindSession = async (tx: Writing, sessionKey: string): Promise<void> => {
  await tx.q.deleteFrom('bindings').where('session_key', '=', sessionKey).execute();
};

/** False when it had ended before, or does not exist. */
export const endSession = async (tx: Writing, id: string, reason: EndReason): Promise<boolean> => {
  const ended = await tx.q.updateTable('sessions').set({ ended_at: tx.now, end_reason: reason }).where('id', '=', id).where('ended_at', 'is', null).returning(['agent', 'ended_at']).executeTakeFirst();
  if (ended?.ended_at == null) return false;
  await noteSessionEnd(tx, { sessionId: id, agent: ended.agent, reason, endedAtMs: ended.ended_at });
  return true;
};

export const reopenSession = async (tx: Writing, id: string): Promise<void> => {
  await tx.q.updateTable('sessions').set({ ended_at: null, end_reason: null, active_at: tx.now }).where('id', '=', id).execute();
};

/** False when another conversation has this title. */
export const setTitle = async (tx: Writing, id: string, title: string): Promise<boolean> => {
  // Otherwise two processes could both find it free, and the second would fail instead of being told.
  if (tx.engine === 'postgres') await sql`select pg_advisory_xact_lock(hashtext(${`title:${title}`}))`.execute(tx.q);
  const taken = await tx.q.selectFrom('sessions').select('id').where('title', '=', title).where('id', '!=', id).executeTakeFirst();
  if (taken !== undefined) return false;
  await tx.q.updateTable('sessions').set({ title }).where('id', '=', id).execute();
  tx.notify('titled', id);
  return true;
};

const mostNumbers = 1000;

/** Gives a conversation that has no title this one, with a number behind it when another has it. False when it has one, or is not there (any more). */
export const setFirstTitle = async (tx: Writing, id: string, title: string): Promise<boolean> => {
  const session = tx.q.selectFrom('sessions').select('title').where('id', '=', id);
  // Whoever titles it at the same moment comes before this or after it.
  const found = await (tx.engine === 'postgres' ? session.forUpdate() : session).executeTakeFirst();
  if (found === undefined || found.title !== null) return false;
  for (let n = 1; n <= mostNumbers; n += 1) if (await setTitle(tx, id, n === 1 ? title : `${title} #${n}`)) return true;
  return false;
};

export const changeSettings = async (tx: Writing, id: string, settings: SessionSettings): Promise<void> => {
  await tx.q.updateTable('sessions').set({ settings: JSON.stringify(settings) }).where('id', '=', id).execute();
};

/** What the model will count when it reads the conversation as it stands now, for lack of its own word; null when nobody can say. */
export const expectPrompt = async (tx: Writing, id: string, prompt: PromptCount | null): Promise<void> => {
  await tx.q.updateTable('sessions').set({ prompt_tokens: prompt?.tokens ?? null, prompt_through: prompt?.throughId ?? null }).where('id', '=', id).execute();
};

export interface SessionFilter {
  readonly limit: number;
  /** So many of the newest are left out. */
  readonly offset?: number;
  readonly account?: string;
  readonly agent?: string;
  /** Only conversations of this person. */
  readonly userId?: string;
  readonly titleContains?: string;
}

/** What `like` would take for a wildcard is meant as it is. */
const containing = (text: string): string => `%${text.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;

export const listSessions = async (db: Reading, filter: SessionFilter): Promise<Session[]> => {
  let query = db.q.selectFrom('sessions').selectAll();
  if (filter.account !== undefined) query = query.where('account', '=', filter.account);
  if (filter.agent !== undefined) query = query.where('agent', '=', filter.agent);
  if (filter.userId !== undefined) query = query.where('user_id', '=', filter.userId);
  if (filter.titleContains !== undefined) query = query.where(sql<boolean>`lower(title) like ${containing(filter.titleContains)} escape '\\'`);
  const rows = await query.orderBy('active_at', 'desc').orderBy('id', 'desc').limit(filter.limit).offset(filter.offset ?? 0).execute();
  return rows.map(toSession);
};

/** By id, by the start of an id, or by exact title; several when the start is ambiguous. */
export const resolveSessions = async (db: Reading, name: string, limit = 5): Promise<Session[]> => {
  if (name === '') return [];
  const exact = await db.q.selectFrom('sessions').selectAll().where((eb) => eb.or([eb('id', '=', name), eb('title', '=', name)])).limit(limit).execute();
  if (exact.length > 0) return exact.map(toSession);
  const rows = await db.q.selectFrom('sessions').selectAll().where(startsWith('id', name)).orderBy('active_at', 'desc').limit(limit).execute();
  return rows.map(toSession);
};

/** The places that continue a conversation, the one that was bound last first. */
export const bindingsOf = async (db: Reading, sessionId: string): Promise<Binding[]> => {
  const rows = await db.q.selectFrom('bindings').select(['session_key', 'session_id', 'target', 'updated_at']).where('session_id', '=', sessionId).execute();
  return rows.toSorted((a, b) => b.updated_at - a.updated_at).map((row) => ({ sessionKey: row.session_key, sessionId: row.session_id, target: JSON.parse(row.target) as Target }));
};

import type { ChatType } from '../../core/message.ts';
import { messageSizeBytes } from '../../core/transcript.ts';
import type { TranscriptMessage, Usage } from '../../core/transcript.ts';
import { indexMessage } from '../sessions/search.ts';
import { bindSession, boundSession, setTitle } from '../sessions/sessions.ts';
import type { Binding } from '../sessions/sessions.ts';
import type { Writing } from '../store.ts';

export interface ImportedMessage {
  readonly message: TranscriptMessage;
  readonly createdAtMs: number;
  /** `archived`: a later message summarises it for the model. `undone`: it was taken back. */
  readonly fate: 'active' | 'archived' | 'undone';
}

/** A conversation that took place elsewhere. */
export interface ImportedSession {
  readonly id: string;
  readonly agent: string;
  readonly account: string;
  readonly chatType: ChatType;
  readonly userId: string | undefined;
  readonly title: string | undefined;
  readonly model: string | undefined;
  readonly parentId: string | undefined;
  readonly createdAtMs: number;
  readonly endedAtMs: number | undefined;
  readonly endReason: string | undefined;
  readonly usage: Usage;
  /** The place that went on with it. */
  readonly binding: Omit<Binding, 'sessionId'> | undefined;
}

export interface SessionImport {
  readonly messages: number;
  /** Another title, where somebody has this one. */
  readonly renamedTo?: string;
  /** Its place goes on with it from now on. */
  readonly bound: boolean;
}

/** Other programs keep what PostgreSQL does not: zeros, and halves of characters. */
const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed();

/** Rows that a summary of somebody else's speaks for. */
const foreignSummary = 0;

const insertMessages = async (tx: Writing, sessionId: string, messages: Iterable<ImportedMessage>): Promise<{ readonly count: number; readonly newestMs: number }> => {
  let count = 0;
  let newestMs = 0;
  for (const { message, createdAtMs, fate } of messages) {
    const { role, content: written, ...rest } = message;
    const content = storable(written);
    const row = await tx.q
      .insertInto('messages')
      .values({
        session_id: sessionId,
        turn_id: null,
        role,
        content,
        body: Object.keys(rest).length === 0 ? null : JSON.stringify(rest),
        size: messageSizeBytes(message),
        active: fate === 'active' ? 1 : 0,
        compression_id: fate === 'archived' ? foreignSummary : null,
        created_at: createdAtMs,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    if (role !== 'tool' && fate !== 'undone') await indexMessage(tx, row.id, content);
    count += 1;
    newestMs = Math.max(newestMs, createdAtMs);
  }
  return { count, newestMs };
};

const giveTitle = async (tx: Writing, id: string, title: string): Promise<string | undefined> => {
  for (let n = 1; n <= 100; n += 1) {
    const candidate = n === 1 ? title : `${title} #${n}`;
    if (await setTitle(tx, id, candidate)) return candidate;
  }
  return undefined;
};

/** Takes a conversation over with its id, times and messages. Undefined when one with its id is here already. A place that has a conversation here keeps that. */
export const importSession = async (tx: Writing, session: ImportedSession, messages: Iterable<ImportedMessage>): Promise<SessionImport | undefined> => {
  const known = await tx.q.selectFrom('sessions').select('id').where('id', '=', session.id).executeTakeFirst();
  if (known !== undefined) return undefined;
  const { usage, binding } = session;
  const { count, newestMs } = await insertMessages(tx, session.id, messages);
  await tx.q
    .insertInto('sessions')
    .values({
      id: session.id,
      agent: session.agent,
      account: session.account,
      chat_type: session.chatType,
      user_id: session.userId ?? null,
      title: null,
      created_at: session.createdAtMs,
      active_at: Math.max(newestMs, session.createdAtMs),
      ended_at: session.endedAtMs ?? null,
      end_reason: session.endedAtMs === undefined ? null : (session.endReason ?? 'imported'),
      parent_id: session.parentId ?? null,
      model: session.model ?? null,
      settings: '{}',
      message_count: count,
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cache_read_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      reasoning_tokens: usage.reasoningTokens,
      cost_usd: usage.cost?.usd ?? null,
      cost_status: usage.cost?.status ?? null,
    })
    .execute();
  const title = session.title === undefined ? undefined : await giveTitle(tx, session.id, storable(session.title));
  const bound = binding !== undefined && (await boundSession(tx, binding.sessionKey)) === undefined;
  if (bound) await bindSession(tx, { ...binding, sessionId: session.id });
  return { messages: count, bound, ...(title !== undefined && title !== session.title && { renamedTo: title }) };
};

/** Lets in whom another gateway has let in. False when they are in already. */
export const importPairing = async (tx: Writing, person: { readonly account: string; readonly userId: string; readonly userName: string | null; readonly approvedAtMs: number }): Promise<boolean> => {
  const row = await tx.q
    .insertInto('pairings')
    .values({ account: person.account, user_id: person.userId, user_name: person.userName, approved_by: 'import', approved_at: person.approvedAtMs })
    .onConflict((conflict) => conflict.columns(['account', 'user_id']).doNothing())
    .returning('user_id')
    .executeTakeFirst();
  return row !== undefined;
};

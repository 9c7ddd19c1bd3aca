import type { EventKind } from '../../core/message.ts';
import type { ExitReason } from '../../core/turn.ts';
import type { InboxState } from '../schema/conversation-rows.ts';
import type { Reading } from '../store.ts';

/** What became of one event, so far. */
export interface EventOutcome {
  readonly state: InboxState;
  readonly reason: string | null;
  readonly sessionId: string | null;
  readonly turn: { readonly exitReason: ExitReason | null; readonly error: string | null; readonly model: string | null; readonly inputTokens: number; readonly outputTokens: number } | undefined;
  /** The last thing that the agent said in the turn; empty when there was nothing to say, and for commands. */
  readonly answer: string;
  /** How many deliveries it caused, and how many of them are still on their way or still to come. */
  readonly deliveries: number;
  readonly open: number;
  /** Why one of them was given up. */
  readonly failure: string | null;
}

const findTurn = async (db: Reading, id: number | null): Promise<(NonNullable<EventOutcome['turn']> & { readonly sessionId: string }) | undefined> => {
  if (id === null) return undefined;
  const row = await db.q.selectFrom('turns').select(['session_id', 'exit_reason', 'error', 'model', 'input_tokens', 'output_tokens']).where('id', '=', id).executeTakeFirst();
  if (row === undefined) return undefined;
  return { sessionId: row.session_id, exitReason: row.exit_reason as ExitReason | null, error: row.error, model: row.model, inputTokens: row.input_tokens, outputTokens: row.output_tokens };
};

/** Asked for by session because that has an index; what a turn said is among the last there. */
const lastWords = async (db: Reading, sessionId: string, turnId: number): Promise<string> => {
  const said = db.q.selectFrom('messages').select('content').where('session_id', '=', sessionId).where('turn_id', '=', turnId).where('role', '=', 'assistant').orderBy('id', 'desc').limit(1);
  const row = (await said.where('active', '=', 1).executeTakeFirst()) ?? (await said.where('active', '=', 0).where('compression_id', 'is not', null).executeTakeFirst());
  return row?.content ?? '';
};

/** Undefined for an event that nobody has delivered. */
export const eventOutcome = async (db: Reading, event: { account: string; chatId: string; nativeId: string; kind: EventKind }): Promise<EventOutcome | undefined> => {
  const row = await db.q
    .selectFrom('inbox')
    .select(['id', 'state', 'reason', 'session_id', 'turn_id'])
    .where('account', '=', event.account)
    .where('chat_id', '=', event.chatId)
    .where('native_id', '=', event.nativeId)
    .where('kind', '=', event.kind)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const sent = await db.q
    .selectFrom('outbox')
    .select(['state', 'error'])
    .where((eb) => eb.or([eb('inbox_id', '=', row.id), ...(row.turn_id === null ? [] : [eb('turn_id', '=', row.turn_id)])]))
    .execute();
  const turn = await findTurn(db, row.turn_id);
  const working = await db.q.selectFrom('command_work').select('inbox_id').where('inbox_id', '=', row.id).executeTakeFirst();
  return {
    state: row.state,
    reason: row.reason,
    sessionId: turn?.sessionId ?? row.session_id,
    turn,
    answer: turn === undefined || row.turn_id === null ? '' : await lastWords(db, turn.sessionId, row.turn_id),
    deliveries: sent.length,
    open: sent.filter(({ state }) => state === 'pending' || state === 'sending' || state === 'unknown').length + (working === undefined ? 0 : 1),
    failure: sent.find(({ state }) => state === 'failed')?.error ?? null,
  };
};

import type { InboundEvent } from '../../core/message.ts';
import type { TranscriptMessage, Usage } from '../../core/transcript.ts';
import type { ExitReason } from '../../core/turn.ts';
import { prepared } from '../prepared.ts';
import type { Reading, Writing } from '../store.ts';

/** How the turn of a call ended. */
export interface ApiCallResult {
  readonly reason: ExitReason;
  readonly error: string | null;
  readonly errorCode?: string;
  /** What was said and called, in order. */
  readonly rows: readonly TranscriptMessage[];
  readonly usage: Usage;
  /** The newest message of the conversation when it ended; 0 when it never began. */
  readonly throughId: number;
}

export interface ApiCall<Request> {
  readonly id: string;
  readonly kind: string;
  readonly sessionId: string;
  readonly request: Request;
  readonly result: ApiCallResult | undefined;
  readonly createdAtMs: number;
  readonly endedAtMs: number | null;
}

export interface NewApiCall {
  readonly id: string;
  readonly keyId: string;
  readonly kind: string;
  readonly sessionId: string;
  readonly request: unknown;
  /** Nobody is to find it later. */
  readonly hidden: boolean;
}

export const insertApiCall = async (tx: Writing, call: NewApiCall): Promise<void> => {
  await tx.q
    .insertInto('api_calls')
    .values({ id: call.id, key_id: call.keyId, kind: call.kind, session_id: call.sessionId, request: JSON.stringify(call.request), result: null, hidden: call.hidden ? 1 : 0, created_at: tx.now, ended_at: null })
    .execute();
};

interface Row {
  readonly id: string;
  readonly kind: string;
  readonly session_id: string;
  readonly request: string;
  readonly result: string | null;
  readonly created_at: number;
  readonly ended_at: number | null;
}

const columns = ['id', 'kind', 'session_id', 'request', 'result', 'created_at', 'ended_at'] as const;

const toCall = <Request>(row: Row): ApiCall<Request> => ({
  id: row.id,
  kind: row.kind,
  sessionId: row.session_id,
  request: JSON.parse(row.request) as Request,
  result: row.result === null ? undefined : (JSON.parse(row.result) as ApiCallResult),
  createdAtMs: row.created_at,
  endedAtMs: row.ended_at,
});

const selectCall = prepared((db, of: { id: string }) => db.q.selectFrom('api_calls').select(columns).where('id', '=', of.id));

/** For the gateway itself, whosever it is. */
export const apiCall = async <Request>(db: Reading, id: string): Promise<ApiCall<Request> | undefined> => {
  const [row] = (await selectCall(db, { id })).rows;
  return row === undefined ? undefined : toCall(row);
};

/** One of a key's own calls that was to be kept. */
export const findApiCall = async <Request>(db: Reading, of: { readonly id: string; readonly keyId: string; readonly kind: string }): Promise<ApiCall<Request> | undefined> => {
  const row = await db.q.selectFrom('api_calls').select(columns).where('id', '=', of.id).where('key_id', '=', of.keyId).where('kind', '=', of.kind).where('hidden', '=', 0).executeTakeFirst();
  return row === undefined ? undefined : toCall(row);
};

/** The key whose call has ended with this; undefined when it had ended before, for the first end counts. */
export const endApiCall = async (tx: Writing, id: string, result: ApiCallResult): Promise<string | undefined> => {
  const ended = await tx.q.updateTable('api_calls').set({ result: JSON.stringify(result), ended_at: tx.now }).where('id', '=', id).where('ended_at', 'is', null).returning('key_id').executeTakeFirst();
  return ended?.key_id;
};

/** Its conversation stays. */
export const hideApiCall = async (tx: Writing, id: string): Promise<void> => {
  await tx.q.updateTable('api_calls').set({ hidden: 1 }).where('id', '=', id).execute();
};

/** The call that a turn answers; what was said to the turn later came behind it. */
export const callOfTurn = async (db: Reading, turnId: number): Promise<string | undefined> =>
  (await db.q.selectFrom('inbox').select('native_id').where('turn_id', '=', turnId).orderBy('id').limit(1).executeTakeFirst())?.native_id;

/** How far the message of a call has come: no turn has taken it up, its turn is under way, or it is over. */
export interface CallProgress {
  readonly state: 'waiting' | 'running' | 'over';
  readonly turnId: number | null;
  readonly event: InboundEvent | undefined;
  /** Its turn is to end. */
  readonly stopping: boolean;
}

export const progressOfCall = async (db: Reading, call: { readonly id: string; readonly account: string }): Promise<CallProgress> => {
  const row = await db.q
    .selectFrom('inbox')
    .leftJoin('turns', 'turns.id', 'inbox.turn_id')
    .select(['inbox.state', 'inbox.turn_id', 'inbox.event', 'turns.exit_reason'])
    .where('inbox.native_id', '=', call.id)
    .where('inbox.account', '=', call.account)
    .executeTakeFirst();
  const state = row?.state === 'waiting' || row?.state === 'running' ? row.state : 'over';
  const event = row === undefined ? undefined : (JSON.parse(row.event) as InboundEvent);
  return { state, event, turnId: row?.turn_id ?? null, stopping: state === 'running' && row?.exit_reason === 'stopped' };
};

/** What the agent has said and called in a turn, and the newest message of it. */
export const rowsOfTurn = async (db: Reading, of: { readonly sessionId: string; readonly turnId: number }): Promise<{ readonly rows: readonly TranscriptMessage[]; readonly throughId: number }> => {
  const found = await db.q.selectFrom('messages').select(['id', 'role', 'content', 'body']).where('session_id', '=', of.sessionId).where('active', '=', 1).where('turn_id', '=', of.turnId).orderBy('id').execute();
  const rows = found.filter((row) => row.role === 'assistant').map((row): TranscriptMessage => ({ role: 'assistant', content: row.content, ...(row.body !== null && (JSON.parse(row.body) as Partial<TranscriptMessage>)) }));
  return { rows: rows.map(({ replay: _, reasoning: _thought, ...row }) => row), throughId: found.at(-1)?.id ?? 0 };
};

/** The message of a call, as long as no turn has taken it up. */
export const waitingCall = async (db: Reading, call: { readonly id: string; readonly account: string }): Promise<number | undefined> =>
  (await db.q.selectFrom('inbox').select('id').where('native_id', '=', call.id).where('account', '=', call.account).where('state', '=', 'waiting').executeTakeFirst())?.id;

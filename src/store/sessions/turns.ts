import { sql } from 'kysely';
import { StoreError } from '../../core/errors.ts';
import type { Target } from '../../core/message.ts';
import type { Usage } from '../../core/transcript.ts';
import type { ExitReason } from '../../core/turn.ts';
import { prepared } from '../prepared.ts';
import type { CostStatus } from '../schema/conversation-rows.ts';
import type { Reading, Writing } from '../store.ts';

/** A message that shows the answer while it grows; the final text takes its place. */
export interface PreviewRef {
  readonly account: string;
  readonly messageId: string;
}

/** A piece of work that a conversation's lane does in place of answering: it is kept, tried again, stopped and told about like an answer. */
export interface TurnChore {
  readonly type: 'compress';
  /** What the summary is to dwell on. */
  readonly focus?: string;
  /** How many of the last exchanges stay word for word. */
  readonly keepExchanges?: number;
  /** Only to say what would be summarised. */
  readonly preview?: true;
}

export interface RunningTurn {
  readonly id: number;
  readonly sessionId: string;
  readonly attempts: number;
  readonly target: Target;
  readonly preview: PreviewRef | null;
  readonly chore?: TurnChore;
}

/** A turn that nobody has finished: its owner is at work on it, or has gone away. */
export interface UnfinishedTurn extends RunningTurn {
  readonly ageMs: number;
  /** Somebody asked for its end; whoever takes it up does not run it. */
  readonly stopRequested?: true;
}

export const startTurn = async (tx: Writing, turn: { sessionId: string; lane: string; target: Target }): Promise<RunningTurn> => {
  const [row] = (await insertTurn(tx, { sessionId: turn.sessionId, lane: turn.lane, target: JSON.stringify(turn.target) })).rows;
  if (row === undefined) throw new StoreError('failed', 'a new turn got no number');
  return { id: row.id, sessionId: turn.sessionId, attempts: 1, target: turn.target, preview: null };
};

const insertTurn = prepared((db, turn: { sessionId: string; lane: string; target: string }) =>
  db.q
    .insertInto('turns')
    .values({
      session_id: turn.sessionId,
      lane: turn.lane,
      state: 'running',
      attempts: 1,
      target: turn.target,
      preview: null,
      exit_reason: null,
      error: null,
      model: null,
      started_at: db.now,
      ended_at: null,
    })
    .returning('id'),
);

/** Leaves a chore for whoever works on the lane next. The caller announces it there, first of all: the lane's lock keeps turns from beginning meanwhile. */
export const leaveChore = async (tx: Writing, turn: { sessionId: string; lane: string; target: Target; chore: TurnChore }): Promise<void> => {
  const { sessionId, lane, target, chore } = turn;
  await tx.q
    .insertInto('turns')
    .values({ session_id: sessionId, lane, state: 'running', attempts: 0, target: JSON.stringify(target), preview: null, exit_reason: null, error: null, model: null, started_at: tx.now, ended_at: null, chore: JSON.stringify(chore) })
    .execute();
};

/** The turn that was under way in a lane when its owner went away. */
export const unfinishedTurn = async (db: Reading, lane: string): Promise<UnfinishedTurn | undefined> => {
  const [row] = (await selectUnfinished(db, { lane })).rows;
  if (row === undefined) return undefined;
  return {
    id: row.id,
    sessionId: row.session_id,
    attempts: row.attempts,
    target: JSON.parse(row.target) as Target,
    preview: row.preview === null ? null : (JSON.parse(row.preview) as PreviewRef),
    ageMs: Number(row.age_ms),
    ...(row.exit_reason === 'stopped' && { stopRequested: true as const }),
    ...(row.chore !== null && { chore: JSON.parse(row.chore) as TurnChore }),
  };
};

const selectUnfinished = prepared((db, of: { lane: string }) =>
  db.q
    .selectFrom('turns')
    .select(['id', 'session_id', 'attempts', 'target', 'preview', 'exit_reason', 'chore', sql<number>`${db.now} - started_at`.as('age_ms')])
    .where('lane', '=', of.lane)
    .where('state', '=', 'running')
    .orderBy('id'),
);

/** Also when nothing is known of it any more. */
export const isTurnOver = async (db: Reading, id: number): Promise<boolean> => (await db.q.selectFrom('turns').select('id').where('id', '=', id).where('state', '=', 'running').executeTakeFirst()) === undefined;

/** Where a conversation was answered last. */
export const lastTarget = async (db: Reading, lane: string): Promise<Target | undefined> => {
  const row = await db.q.selectFrom('turns').select('target').where('state', '=', 'done').where('lane', '=', lane).orderBy('id', 'desc').limit(1).executeTakeFirst();
  return row === undefined ? undefined : (JSON.parse(row.target) as Target);
};

/** Keeps that the unfinished turn of a lane is to end, also for an owner that takes it up later: its reason is there before its end. */
export const requestTurnStop = async (tx: Writing, lane: string): Promise<void> => {
  await tx.q.updateTable('turns').set({ exit_reason: 'stopped' }).where('lane', '=', lane).where('state', '=', 'running').execute();
};

/** Counted before the turn runs, so that a turn which ends the process is counted too. */
export const countAttempt = async (tx: Writing, id: number): Promise<void> => {
  await tx.q.updateTable('turns').set((eb) => ({ attempts: eb('attempts', '+', 1) })).where('id', '=', id).execute();
};

/** An orderly shutdown is not a failed attempt. */
export const uncountAttempt = async (tx: Writing, id: number): Promise<void> => {
  await tx.q.updateTable('turns').set((eb) => ({ attempts: eb('attempts', '-', 1) })).where('id', '=', id).where('state', '=', 'running').execute();
};

export const recordPreview = async (tx: Writing, id: number, preview: PreviewRef | null): Promise<void> => {
  await tx.q.updateTable('turns').set({ preview: preview === null ? null : JSON.stringify(preview) }).where('id', '=', id).execute();
};

export interface TurnOutcome {
  readonly state: 'done' | 'set_aside';
  readonly reason: ExitReason;
  readonly error: string | null;
  readonly model: string | null;
  readonly usage: Usage;
}

/** False when it was finished before. */
export const finishTurn = async (tx: Writing, id: number, outcome: TurnOutcome): Promise<boolean> => {
  const { usage, ...ended } = outcome;
  const used = { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, costUsd: usage.cost?.usd ?? null, costStatus: usage.cost?.status ?? null };
  const { numAffectedRows } = await updateFinished(tx, { id, ...ended, ...used });
  return numAffectedRows === 1n;
};

interface FinishedRow extends Omit<TurnOutcome, 'usage'> {
  readonly id: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
  readonly costStatus: CostStatus | null;
}

const updateFinished = prepared((db, turn: FinishedRow) =>
  db.q
    .updateTable('turns')
    .set({
      state: turn.state,
      exit_reason: turn.reason,
      error: turn.error,
      model: turn.model,
      input_tokens: turn.inputTokens,
      output_tokens: turn.outputTokens,
      cost_usd: turn.costUsd,
      cost_status: turn.costStatus,
      ended_at: db.now,
    })
    .where('id', '=', turn.id)
    .where('state', '=', 'running'),
);

export const runningTurns = async (db: Reading): Promise<number> => {
  const row = await db.q.selectFrom('turns').select((eb) => eb.fn.countAll<number>().as('count')).where('state', '=', 'running').executeTakeFirstOrThrow();
  return Number(row.count);
};

export interface FailedTurn {
  readonly id: number;
  readonly sessionId: string;
  readonly reason: string;
  readonly error: string | null;
  readonly endedAtMs: number;
}

/** So far back is looked for failures: a report must not read every turn there ever was. */
const mostLookedAt = 500;
const failures: readonly ExitReason[] = ['deadline', 'model_error', 'internal_error', 'set_aside', 'cut_off'];

/** The turns that went wrong lately, newest first. */
export const failedTurns = async (db: Reading, limit: number): Promise<FailedTurn[]> => {
  const newest = (state: 'done' | 'set_aside') =>
    db.q.selectFrom('turns').select(['id', 'session_id', 'exit_reason', 'error', 'ended_at']).where('state', '=', state).orderBy('ended_at', 'desc').limit(mostLookedAt).execute();
  const rows = [...(await newest('done')), ...(await newest('set_aside'))].toSorted((a, b) => (b.ended_at ?? 0) - (a.ended_at ?? 0));
  return rows
    .filter((row) => failures.some((reason) => reason === row.exit_reason))
    .slice(0, limit)
    .map((row) => ({ id: row.id, sessionId: row.session_id, reason: row.exit_reason ?? '', error: row.error, endedAtMs: row.ended_at ?? 0 }));
};

/** Whose turn it is, and how often it was tried. */
export const attemptOf = async (db: Reading, id: number): Promise<{ readonly sessionId: string; readonly attempts: number } | undefined> => {
  const row = await db.q.selectFrom('turns').select(['session_id', 'attempts']).where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : { sessionId: row.session_id, attempts: row.attempts };
};

import { sql } from 'kysely';
import type { Target } from '../core/message.ts';
import type { Usage } from '../core/transcript.ts';
import type { ExitReason } from '../core/turn.ts';
import type { Reading, Writing } from './store.ts';

/** A message that shows the answer while it grows; the final text takes its place. */
export interface PreviewRef {
  readonly account: string;
  readonly messageId: string;
}

export interface RunningTurn {
  readonly id: number;
  readonly sessionId: string;
  readonly attempts: number;
  readonly target: Target;
  readonly preview: PreviewRef | null;
}

export const startTurn = async (tx: Writing, turn: { sessionId: string; lane: string; target: Target }): Promise<RunningTurn> => {
  const row = await tx.q
    .insertInto('turns')
    .values({
      session_id: turn.sessionId,
      lane: turn.lane,
      state: 'running',
      attempts: 1,
      target: JSON.stringify(turn.target),
      preview: null,
      exit_reason: null,
      error: null,
      model: null,
      started_at: tx.now,
      ended_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id: row.id, sessionId: turn.sessionId, attempts: 1, target: turn.target, preview: null };
};

/** The turn that was under way in a lane when its owner went away. */
export const unfinishedTurn = async (db: Reading, lane: string): Promise<(RunningTurn & { readonly ageMs: number }) | undefined> => {
  const row = await db.q.selectFrom('turns').select(['id', 'session_id', 'attempts', 'target', 'preview', sql<number>`${db.now} - started_at`.as('age_ms')]).where('lane', '=', lane).where('state', '=', 'running').orderBy('id').executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    id: row.id,
    sessionId: row.session_id,
    attempts: row.attempts,
    target: JSON.parse(row.target) as Target,
    preview: row.preview === null ? null : (JSON.parse(row.preview) as PreviewRef),
    ageMs: Number(row.age_ms),
  };
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

/** False when it was finished before. */
export const finishTurn = async (
  tx: Writing,
  id: number,
  outcome: { state: 'done' | 'set_aside'; reason: ExitReason; error: string | null; model: string | null; usage: Usage },
): Promise<boolean> => {
  const result = await tx.q
    .updateTable('turns')
    .set({
      state: outcome.state,
      exit_reason: outcome.reason,
      error: outcome.error,
      model: outcome.model,
      input_tokens: outcome.usage.inputTokens,
      output_tokens: outcome.usage.outputTokens,
      ended_at: tx.now,
    })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
};

export const runningTurns = async (db: Reading): Promise<number> => {
  const row = await db.q.selectFrom('turns').select((eb) => eb.fn.countAll<number>().as('count')).where('state', '=', 'running').executeTakeFirstOrThrow();
  return Number(row.count);
};

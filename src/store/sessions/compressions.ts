import type { Selectable } from 'kysely';
import { StoreError } from '../../core/errors.ts';
import { prepared } from '../prepared.ts';
import type { CompressionRow } from '../schema/agent-rows.ts';
import { inMs } from '../store.ts';
import type { Reading, Writing } from '../store.ts';

/** What led to a compression: the conversation outgrew its threshold, the model refused it, or a person asked. */
export type CompressionCause = 'threshold' | 'overflow' | 'request';

/** A summary that takes the place of a part of a conversation. */
export interface Compression {
  readonly id: number;
  readonly summary: string;
  /** Messages up to here are the beginning that is kept word for word. */
  readonly headThroughId: number;
  /** The summary stands behind what is kept up to here, and before everything newer. */
  readonly throughId: number;
  /** How many messages it archived. */
  readonly messages: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly cause: CompressionCause;
  /** Written by a model, or put together without one. */
  readonly how: 'model' | 'static';
  readonly model: string | null;
  readonly createdAtMs: number;
}

export type NewCompression = Omit<Compression, 'id' | 'createdAtMs'>;

const toCompression = (row: Selectable<CompressionRow>): Compression => ({
  id: row.id,
  summary: row.summary,
  headThroughId: row.head_through,
  throughId: row.through_id,
  messages: row.messages,
  tokensBefore: row.tokens_before,
  tokensAfter: row.tokens_after,
  cause: row.cause as CompressionCause,
  how: row.how as Compression['how'],
  model: row.model,
  createdAtMs: row.created_at,
});

/** The summary that the model reads at the moment. */
export const currentCompression = async (db: Reading, sessionId: string): Promise<Compression | undefined> => {
  const [row] = (await selectCurrent(db, { sessionId })).rows;
  return row === undefined ? undefined : toCompression(row);
};

const selectCurrent = prepared((db, of: { sessionId: string }) => db.q.selectFrom('compressions').selectAll().where('session_id', '=', of.sessionId).where('state', '=', 'current'));

/** How often a conversation was compressed so far; what was taken back counts no more. */
export const countCompressions = async (db: Reading, sessionId: string): Promise<number> => {
  const row = await db.q
    .selectFrom('compressions')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('session_id', '=', sessionId)
    .where('state', 'in', ['current', 'superseded'])
    .executeTakeFirstOrThrow();
  return Number(row.count);
};

/** Puts a summary into force in place of the one before it, which stays stored; answers its number, for the messages that it archives. */
export const insertCompression = async (tx: Writing, sessionId: string, compression: NewCompression): Promise<number> => {
  await tx.q.updateTable('compressions').set({ state: 'superseded' }).where('session_id', '=', sessionId).where('state', '=', 'current').execute();
  const row = await tx.q
    .insertInto('compressions')
    .values({
      session_id: sessionId,
      state: 'current',
      summary: compression.summary,
      head_through: compression.headThroughId,
      through_id: compression.throughId,
      messages: compression.messages,
      tokens_before: compression.tokensBefore,
      tokens_after: compression.tokensAfter,
      cause: compression.cause,
      how: compression.how,
      model: compression.model,
      created_at: tx.now,
    })
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) throw new StoreError('failed', 'a new summary got no number');
  return row.id;
};

/** Puts the summary before the current one back into force, if there was one. What the current one archived is the caller's. */
export const dropCurrentCompression = async (tx: Writing, sessionId: string): Promise<void> => {
  await tx.q.updateTable('compressions').set({ state: 'undone' }).where('session_id', '=', sessionId).where('state', '=', 'current').execute();
  const newest = tx.q.selectFrom('compressions').select((eb) => eb.fn.max('id').as('id')).where('session_id', '=', sessionId).where('state', '=', 'superseded');
  await tx.q.updateTable('compressions').set({ state: 'current' }).where('id', '=', newest).execute();
};

/** Why compressing a conversation did not work lately, and how long it is left alone. */
export interface CompressionFailure {
  readonly failures: number;
  readonly error: string;
  /** Zero or less when it may be tried again. */
  readonly waitMs: number;
}

export const compressionFailure = async (db: Reading, sessionId: string): Promise<CompressionFailure | undefined> => {
  const row = await db.q
    .selectFrom('compression_failures')
    .select((eb) => ['failures', 'error', eb('retry_at', '-', db.now).as('wait')])
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  return row === undefined ? undefined : { failures: row.failures, error: row.error, waitMs: Number(row.wait) };
};

/** Counts a failure and rests as long as its place on the ladder says; the last step repeats. */
export const noteCompressionFailure = async (tx: Writing, sessionId: string, failure: { error: string; ladderMs: readonly number[] }): Promise<void> => {
  const { failures = 0 } = (await compressionFailure(tx, sessionId)) ?? {};
  const restMs = failure.ladderMs[Math.min(failures, failure.ladderMs.length - 1)] ?? 0;
  const values = { failures: failures + 1, retry_at: inMs(tx, restMs), error: failure.error };
  await tx.q
    .insertInto('compression_failures')
    .values({ session_id: sessionId, ...values })
    .onConflict((conflict) => conflict.column('session_id').doUpdateSet(values))
    .execute();
};

export const forgetCompressionFailures = async (tx: Writing, sessionId: string): Promise<void> => {
  await tx.q.deleteFrom('compression_failures').where('session_id', '=', sessionId).execute();
};

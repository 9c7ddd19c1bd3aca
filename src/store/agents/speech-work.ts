import { sql } from 'kysely';
import type { Target } from '../../core/message.ts';
import { inMs } from '../store.ts';
import type { Reading, Writing } from '../store.ts';

/** The answer of a turn that is still to be spoken. */
export interface SpeechWork {
  readonly turnId: number;
  readonly sessionId: string;
  readonly agent: string;
  readonly target: Target;
  /** Markdown, as it was shown. */
  readonly text: string;
  /** How often it was taken up, this time included. */
  readonly attempts: number;
  readonly ageMs: number;
}

/** Part of the transaction that commits the answer. A turn's answer is spoken once, however often this is called. */
export const planSpeech = async (tx: Writing, speech: Omit<SpeechWork, 'attempts' | 'ageMs'>): Promise<void> => {
  await tx.q
    .insertInto('speech_work')
    .values({
      turn_id: speech.turnId,
      session_id: speech.sessionId,
      agent: speech.agent,
      account: speech.target.account,
      target: JSON.stringify(speech.target),
      text: speech.text,
      ready_at: tx.now,
      owner: null,
      error: null,
      failed_at: null,
      created_at: tx.now,
    })
    .onConflict((conflict) => conflict.column('turn_id').doNothing())
    .execute();
  tx.notify('speech', speech.target.account);
};

/** The oldest answer to speak on one of these accounts, for nobody else until the lease ends. */
export const claimSpeech = async (tx: Writing, claim: { readonly owner: string; readonly accounts: readonly string[]; readonly leaseMs: number }): Promise<SpeechWork | undefined> => {
  if (claim.accounts.length === 0) return undefined;
  // Two that look at the same moment would both see the row free.
  if (tx.engine === 'postgres') await sql`select pg_advisory_xact_lock(hashtext('speech'))`.execute(tx.q);
  const next = await tx.q
    .selectFrom('speech_work')
    .select(['turn_id', 'session_id', 'agent', 'target', 'text', 'attempts', sql<number>`${tx.now} - created_at`.as('age')])
    .where('account', 'in', claim.accounts)
    .where('failed_at', 'is', null)
    .where('ready_at', '<=', tx.now)
    // Whoever is not among the nodes any more does nothing, whatever its lease says.
    .where((eb) => eb.or([eb('lease_until', '<=', tx.now), eb.not(eb.exists(eb.selectFrom('nodes').select('nodes.id').whereRef('nodes.id', '=', 'speech_work.owner')))]))
    .orderBy('turn_id')
    .limit(1)
    .executeTakeFirst();
  if (next === undefined) return undefined;
  await tx.q
    .updateTable('speech_work')
    .set((eb) => ({ owner: claim.owner, lease_until: inMs(tx, claim.leaseMs), attempts: eb('attempts', '+', 1) }))
    .where('turn_id', '=', next.turn_id)
    .execute();
  return {
    turnId: next.turn_id,
    sessionId: next.session_id,
    agent: next.agent,
    target: JSON.parse(next.target) as Target,
    text: next.text,
    attempts: next.attempts + 1,
    ageMs: Number(next.age),
  };
};

/** True for the one who still holds it: only they may put what was spoken on its way, in this transaction. */
export const finishSpeech = async (tx: Writing, held: { readonly turnId: number; readonly owner: string }): Promise<boolean> => {
  const result = await tx.q.deleteFrom('speech_work').where('turn_id', '=', held.turnId).where('owner', '=', held.owner).executeTakeFirst();
  return result.numDeletedRows === 1n;
};

/** Puts it back, to be taken up again after a while. */
export const postponeSpeech = async (tx: Writing, turnId: number, later: { readonly delayMs: number; readonly error: string }): Promise<void> => {
  await tx.q.updateTable('speech_work').set({ owner: null, lease_until: 0, ready_at: inMs(tx, later.delayMs), error: later.error }).where('turn_id', '=', turnId).execute();
};

/** It will not be spoken. Why is remembered for a while, the words are not. */
export const giveUpSpeech = async (tx: Writing, turnId: number, error: string): Promise<void> => {
  await tx.q.updateTable('speech_work').set({ owner: null, text: '', error, failed_at: tx.now }).where('turn_id', '=', turnId).execute();
};

/** Gives back what an owner had taken up and did not get to. */
export const releaseSpeech = async (tx: Writing, owner: string): Promise<void> => {
  await tx.q
    .updateTable('speech_work')
    .set((eb) => ({ owner: null, lease_until: 0, attempts: eb('attempts', '-', 1) }))
    .where('owner', '=', owner)
    .execute();
};

/** Why an answer of this conversation was not spoken, the newest one first. */
export const lastSpeechFailure = async (db: Reading, sessionId: string): Promise<string | undefined> => {
  const row = await db.q.selectFrom('speech_work').select('error').where('session_id', '=', sessionId).where('failed_at', 'is not', null).orderBy('turn_id', 'desc').limit(1).executeTakeFirst();
  return row?.error ?? undefined;
};

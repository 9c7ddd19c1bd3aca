import type { TranscriptMessage, Usage } from '../core/transcript.ts';
import type { ExitReason } from '../core/turn.ts';
import { enqueueText } from '../delivery/compose.ts';
import type { Outgoing } from '../delivery/compose.ts';
import { closeTurnItems } from '../store/messages/inbox.ts';
import { holdLane, releaseLane } from '../store/lanes/lanes.ts';
import type { Claim } from '../store/lanes/lanes.ts';
import { addTurnTotals } from '../store/sessions/turn-totals.ts';
import type { WindowUpdate } from '../store/sessions/turn-totals.ts';
import type { Store, Writing } from '../store/store.ts';
import { appendMessage } from '../store/sessions/transcripts.ts';
import { finishTurn, uncountAttempt } from '../store/sessions/turns.ts';
import type { RunningTurn } from '../store/sessions/turns.ts';
import { withdrawQuestions } from './withdraw-questions.ts';
import { beginTurn } from './begin.ts';
import type { Begun } from './begin.ts';
import type { TurnPolicy } from './turn-policy.ts';

export const turnLeaseMs = 60_000;

export interface TurnResult {
  readonly reason: ExitReason;
  readonly error: string | null;
  /** What kind of trouble that is. */
  readonly errorCode?: string;
  readonly model: string | null;
  readonly usage: Usage;
  /** Rows that were not stored while the turn ran: at most the final answer. */
  readonly messages: readonly TranscriptMessage[];
  /** What is known about the model's window now. */
  readonly window: Omit<WindowUpdate, 'prompt'>;
  /** What the agent's memory gets of it. */
  readonly kept?: { write(tx: Writing): Promise<void>; done(): void };
  /** Somebody was asked something; what is still open is taken back. */
  readonly asked: boolean;
  /** What people will see, if anything. */
  readonly answer: Omit<Outgoing, 'key'> | undefined;
  /** What other places get of it. */
  readonly copies?: readonly Omit<Outgoing, 'key'>[];
}

/**
 * The end of a turn: transcript, deliveries, inbox and turn state, and the start of the next turn, in one transaction. After a
 * crash either all of it is there or the turn runs again.
 */
export const commitTurn = (store: Store, begun: { claim: Claim; turn: RunningTurn }, result: TurnResult, policy: TurnPolicy): Promise<Begun> => {
  const { claim, turn } = begun;
  return store.write(async (tx) => {
    await holdLane(tx, claim, turnLeaseMs);
    // It is over already when this is a repeat of a commit that went through although its confirmation was lost.
    if (await finishTurn(tx, turn.id, { state: 'done', reason: result.reason, error: result.error, model: result.model, usage: result.usage })) await writeEnd(tx, turn, result, policy);
    return (await policy.limits?.handBack(tx, claim)) ?? beginTurn(tx, claim, policy);
  });
};

const writeEnd = async (tx: Writing, turn: RunningTurn, result: TurnResult, policy: TurnPolicy): Promise<void> => {
  const rowIds: number[] = [];
  for (const message of result.messages) rowIds.push(await appendMessage(tx, { sessionId: turn.sessionId, turnId: turn.id }, message));
  // The model's own count is of what stood before its answer.
  const prompt = rowIds[0] === undefined || result.window.promptTokens === undefined ? undefined : { tokens: result.window.promptTokens, throughId: rowIds[0] - 1 };
  const settle = policy.settle?.(turn);
  if (settle !== undefined) await settle(tx, { reason: result.reason, error: result.error, text: result.messages.at(-1)?.content ?? '', usage: result.usage, ...(result.errorCode !== undefined && { errorCode: result.errorCode }) });
  else if (result.answer !== undefined) await enqueueAnswer(tx, turn, { ...result.answer, key: `turn:${turn.id}` }, policy);
  for (const [index, copy] of (result.copies ?? []).entries()) await enqueueAnswer(tx, turn, { ...copy, key: `turn:${turn.id}:to:${index + 1}` }, policy);
  if (result.asked) await withdrawQuestions(tx, turn.id);
  await closeTurnItems(tx, turn.id, { state: 'done', reason: result.reason });
  await result.kept?.write(tx);
  await addTurnTotals(tx, turn.sessionId, { usage: result.usage, model: result.model, context: { ...result.window, ...(prompt !== undefined && { prompt }) } });
};

const enqueueAnswer = async (tx: Writing, turn: RunningTurn, answer: Outgoing, policy: TurnPolicy): Promise<void> => {
  const platform = policy.platform(answer.target.account);
  if (platform === undefined) throw new Error(`the account ${answer.target.account} has no platform`);
  await enqueueText(tx, platform, { ...answer, turnId: turn.id, anchorAll: policy.anchorAll(answer.target.account) });
};

/** Puts a turn down that is to be taken up again and has not failed. `cut` says that it was left in the middle because the process ends: too long after that, it does not go on by itself. */
export const suspendTurn = (store: Store, begun: { claim: Claim; turn: RunningTurn }, { cut }: { readonly cut: boolean }): Promise<void> =>
  store.write(async (tx) => {
    await holdLane(tx, begun.claim, turnLeaseMs);
    await uncountAttempt(tx, begun.turn.id);
    await releaseLane(tx, begun.claim, { more: true, cut });
  });

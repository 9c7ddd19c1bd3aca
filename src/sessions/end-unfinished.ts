import { noUsage } from '../core/transcript.ts';
import { enqueueText } from '../delivery/compose.ts';
import { closeTurnItems, turnItems } from '../store/messages/inbox.ts';
import { deactivateFrom } from '../store/sessions/transcripts.ts';
import { finishTurn } from '../store/sessions/turns.ts';
import type { RunningTurn, UnfinishedTurn } from '../store/sessions/turns.ts';
import type { Writing } from '../store/store.ts';
import { endCutOff, isCutOff } from './cut-off.ts';
import type { TurnPolicy } from './turn-policy.ts';
import { groupItems } from './user-message.ts';
import { withdrawQuestions } from './withdraw-questions.ts';
import { noMedia, writeGroup } from './write-group.ts';

/**
 * A turn that has ended the process as often as it may is not tried again; its chat is told once. Its rows are kept, but out of the
 * model's sight: whatever is in them must not end the turns that follow as well.
 */
const setAside = async (tx: Writing, turn: RunningTurn, policy: TurnPolicy): Promise<void> => {
  await withdrawQuestions(tx, turn.id);
  const rowIds = (await turnItems(tx, turn.id)).flatMap((item) => item.messageId ?? []);
  if (rowIds.length > 0) await deactivateFrom(tx, turn.sessionId, Math.min(...rowIds));
  await closeTurnItems(tx, turn.id, { state: 'set_aside', reason: `ended the process ${turn.attempts} times` });
  await finishTurn(tx, turn.id, { state: 'set_aside', reason: 'set_aside', error: 'the process ended while this turn ran', model: null, usage: noUsage });
  await policy.settle?.(turn)?.(tx, { reason: 'set_aside', error: null, text: '', usage: noUsage });
  const platform = policy.platform(turn.target.account);
  if (platform === undefined) return;
  const text = `⚠️ I had to set this message aside: each of ${turn.attempts} tries to answer it ended with a crash. The owner finds it with \`hermes trace\`.`;
  await enqueueText(tx, platform, { key: `turn:${turn.id}:set_aside`, target: turn.target, text, turnId: turn.id, ...(turn.preview !== null && { finishes: turn.preview.messageId }) });
};

/** A turn that was to stop when its process ended: what was said stays in the transcript, and nothing half-written in the chat. */
const closeStopped = async (tx: Writing, turn: RunningTurn, policy: TurnPolicy): Promise<void> => {
  await withdrawQuestions(tx, turn.id);
  for (const group of groupItems(await turnItems(tx, turn.id))) {
    if (group[0].messageId === null) await writeGroup(tx, turn, group, { media: noMedia, shared: policy.isShared(group) });
  }
  await closeTurnItems(tx, turn.id, { state: 'done', reason: 'stopped' });
  await finishTurn(tx, turn.id, { state: 'done', reason: 'stopped', error: null, model: null, usage: noUsage });
  await policy.settle?.(turn)?.(tx, { reason: 'stopped', error: null, text: '', usage: noUsage });
  const platform = policy.platform(turn.target.account);
  if (platform === undefined || turn.preview === null) return;
  await enqueueText(tx, platform, { key: `turn:${turn.id}`, target: turn.target, text: '— stopped', turnId: turn.id, finishes: turn.preview.messageId });
};

/** Ends an unfinished turn that is not to be run again. False for every other. */
export const endUnfinished = async (tx: Writing, turn: UnfinishedTurn, at: { cutMs: number | undefined; policy: TurnPolicy }): Promise<boolean> => {
  const { cutMs, policy } = at;
  if (turn.stopRequested === true) await closeStopped(tx, turn, policy);
  else if (turn.attempts >= policy.maxAttempts) await setAside(tx, turn, policy);
  else {
    const cut = { turn, items: cutMs === undefined ? [] : await turnItems(tx, turn.id), cutMs };
    if (!isCutOff(cut, policy.continueWithinMs())) return false;
    await endCutOff(tx, cut, policy);
  }
  return true;
};

import { resumeTranscript } from '../agent/resume-transcript.ts';
import { noUsage } from '../core/transcript.ts';
import { enqueueText } from '../delivery/compose.ts';
import { span } from '../lib/span.ts';
import { closeTurnItems } from '../store/messages/inbox.ts';
import type { InboxItem } from '../store/messages/inbox.ts';
import { appendMessage, newestMessages } from '../store/sessions/transcripts.ts';
import { finishTurn } from '../store/sessions/turns.ts';
import type { RunningTurn } from '../store/sessions/turns.ts';
import type { Writing } from '../store/store.ts';
import type { TurnPolicy } from './turn-policy.ts';
import { withdrawQuestions } from './withdraw-questions.ts';

/** A turn that nobody has worked on for `cutMs`, with the messages that it answers. */
interface CutTurn {
  readonly turn: RunningTurn;
  readonly items: readonly InboxItem[];
  readonly cutMs: number | undefined;
}

/**
 * Whether a turn was left in the middle so long ago that it must not go on by itself. One whose messages do not all stand in the transcript has
 * not asked the model yet: it is begun again like one that has only waited. What a chore does is the same at any time.
 */
export const isCutOff = ({ turn, items, cutMs }: CutTurn, continueWithinMs: number): boolean =>
  cutMs !== undefined && cutMs >= continueWithinMs && turn.chore === undefined && items.every((item) => item.messageId !== null);

/** More than one message of the model can call. */
const lastRows = 300;
const quotedChars = 80;

const quote = (items: readonly InboxItem[]): string => {
  const text = items.findLast(({ event }) => event.kind === 'message')?.event.text.replaceAll(/\s+/g, ' ').trim() ?? '';
  if (text === '') return '';
  return ` while I worked on “${text.length <= quotedChars ? text : `${text.slice(0, quotedChars).trimEnd()}…`}”`;
};

const rule = (continueWithinMs: number): string => (continueWithinMs === 0 ? 'never go on by themselves' : `go on by themselves within ${span(continueWithinMs)}`);

/**
 * Ends a turn that was cut off too long ago. What was said and done stays in the transcript, calls without a result are reported as interrupted, and
 * its chat is told once; the next message goes on from there.
 */
export const endCutOff = async (tx: Writing, { turn, items, cutMs = 0 }: CutTurn, policy: TurnPolicy): Promise<void> => {
  await withdrawQuestions(tx, turn.id);
  const rows = (await newestMessages(tx, turn.sessionId, { limit: lastRows })).toReversed().map(({ message }) => message);
  for (const row of resumeTranscript(rows)) await appendMessage(tx, { sessionId: turn.sessionId, turnId: turn.id }, row);
  const error = `cut off ${span(cutMs)} earlier; turns ${rule(policy.continueWithinMs())} (agent.gateway_auto_continue_freshness)`;
  await closeTurnItems(tx, turn.id, { state: 'cut_off', reason: `${error}. The next message there continues from it` });
  await finishTurn(tx, turn.id, { state: 'done', reason: 'cut_off', error, model: null, usage: noUsage });
  await policy.settle?.(turn)?.(tx, { reason: 'cut_off', error: null, text: '', usage: noUsage });
  const platform = policy.platform(turn.target.account);
  if (platform === undefined) return;
  const text = `⏳ I was cut off ${span(cutMs)} ago${quote(items)}, and have not gone on with it by myself. “Go on”, or whatever you write next, continues from there.`;
  await enqueueText(tx, platform, { key: `turn:${turn.id}:cut_off`, target: turn.target, text, turnId: turn.id, ...(turn.preview !== null && { finishes: turn.preview.messageId }) });
};

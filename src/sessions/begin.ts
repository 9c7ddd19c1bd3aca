import { replyTarget } from '../core/message.ts';
import type { InboundEvent, Target } from '../core/message.ts';
import type { Platform } from '../platforms/contract.ts';
import { closeTurnItems, joinTurn, setTranscriptRow, turnItems, waitingItems } from '../store/inbox.ts';
import { heldLane, releaseLane } from '../store/lanes.ts';
import type { Claim } from '../store/lanes.ts';
import { findSession } from '../store/sessions.ts';
import type { Session } from '../store/sessions.ts';
import type { Writing } from '../store/store.ts';
import { appendMessage, deactivateFrom } from '../store/transcripts.ts';
import { countAttempt, finishTurn, startTurn, unfinishedTurn } from '../store/turns.ts';
import type { RunningTurn, UnfinishedTurn } from '../store/turns.ts';
import { noUsage } from '../core/transcript.ts';
import type { Usage } from '../core/transcript.ts';
import type { ExitReason } from '../core/turn.ts';
import { enqueueText } from '../delivery/compose.ts';
import type { BusyMode } from './busy-mode.ts';
import type { ConversationLimits, Wait } from './conversation-limits.ts';
import type { InboxItem } from '../store/inbox.ts';
import { groupItems, isAnsweredAt, resultRows, userMessage } from './user-message.ts';
import type { ItemGroup } from './user-message.ts';
import { endCutOff, isCutOff } from './cut-off.ts';
import { withdrawQuestions } from './withdraw-questions.ts';

export interface BegunTurn {
  readonly type: 'turn';
  readonly claim: Claim;
  readonly turn: RunningTurn;
  readonly session: Session;
  /** Messages whose files have to be fetched before they can stand in the transcript. */
  readonly unwritten: readonly ItemGroup[];
  readonly inboxIds: readonly number[];
  /** The newest message that is answered. */
  readonly last: InboxItem | undefined;
  readonly resumed: boolean;
  readonly firstReceivedMs: number;
  /** How often the lane had been asked to stop when the turn began. */
  readonly stops: number;
}

export type Begun = BegunTurn | Wait;

/** How a turn ended. */
export interface TurnOutcome {
  readonly reason: ExitReason;
  /** The sentence for people when something went wrong. */
  readonly error: string | null;
  /** The last thing that the agent said, as it said it. */
  readonly text: string;
  readonly usage: Usage;
  /** What kind of trouble `error` is about. */
  readonly errorCode?: string;
}

/** Takes the end of a turn, as part of the transaction that ends it. */
export type SettleTurn = (tx: Writing, outcome: TurnOutcome) => Promise<void>;

export interface BeginPolicy {
  readonly maxAttempts: number;
  /** How long after it was cut off a turn goes on by itself. */
  continueWithinMs(): number;
  busyMode(session: Session): BusyMode;
  isShared(group: ItemGroup): boolean;
  /** Where the answer to a message goes, and whether it is attached to it. */
  replyTo(event: InboundEvent): Target;
  /** Whether every part of a long answer is attached, or only the first. */
  anchorAll(account: string): boolean;
  platform(account: string): Platform | undefined;
  /** For a turn that takes place in no chat: what it says on the way stays in its transcript, and its end goes here. Undefined for every other one. */
  settle?(turn: RunningTurn): SettleTurn | undefined;
  /** What keeps conversations back that could go on. */
  readonly limits?: ConversationLimits;
}

const mostWaiting = 200;
const noMedia = { attachments: [], notes: [] };

/** Writes messages without files into the transcript; answers those that still need theirs. */
const writeGroups = async (tx: Writing, turn: RunningTurn, groups: readonly ItemGroup[], policy: BeginPolicy): Promise<ItemGroup[]> => {
  for (const [i, group] of groups.entries()) {
    if (group[0].messageId !== null) continue;
    // Rows keep the order of the messages: from the first one with files on, everything waits for its files.
    if (group.some((item) => item.event.media.length > 0)) return groups.slice(i).filter((later) => later[0].messageId === null);
    await writeGroup(tx, turn, group, { media: noMedia, shared: policy.isShared(group) });
  }
  return [];
};

export const writeGroup = async (tx: Writing, turn: RunningTurn, group: ItemGroup, content: { media: Parameters<typeof userMessage>[1]; shared: boolean }): Promise<void> => {
  const said = userMessage(group, content.media, content.shared);
  const results = resultRows(group);
  const rows = results.length > 0 && said.content === '' && said.attachments === undefined ? results : [...results, said];
  let rowId = 0;
  for (const row of rows) rowId = await appendMessage(tx, { sessionId: turn.sessionId, turnId: turn.id }, row);
  for (const item of group) await setTranscriptRow(tx, item.id, rowId);
};

/**
 * A turn that has ended the process as often as it may is not tried again; its chat is told once. Its rows are kept, but out of the
 * model's sight: whatever is in them must not end the turns that follow as well.
 */
const setAside = async (tx: Writing, turn: RunningTurn, policy: BeginPolicy): Promise<void> => {
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
const closeStopped = async (tx: Writing, turn: RunningTurn, policy: BeginPolicy): Promise<void> => {
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
const leave = async (tx: Writing, turn: UnfinishedTurn, at: { cutMs: number | undefined; policy: BeginPolicy }): Promise<boolean> => {
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

const resume = async (tx: Writing, claim: Claim, session: Session, found: { turn: RunningTurn; policy: BeginPolicy }): Promise<Omit<BegunTurn, 'stops'>> => {
  const { turn, policy } = found;
  await countAttempt(tx, turn.id);
  const items = await turnItems(tx, turn.id);
  const counted = { ...turn, attempts: turn.attempts + 1 };
  const unwritten = await writeGroups(tx, counted, groupItems(items), policy);
  return { type: 'turn', claim, turn: counted, session, unwritten, inboxIds: items.map((item) => item.id), last: items.at(-1), resumed: true, firstReceivedMs: items[0]?.event.sentAtMs ?? 0 };
};

/** What one turn answers: one message, or everything that waits and came from the same place, for an answer goes to one place only. */
const takeTogether = (groups: readonly ItemGroup[], mode: BusyMode): readonly ItemGroup[] => {
  if (mode === 'queue') return groups.slice(0, 1);
  const elsewhere = groups.findIndex(([item]) => groups[0] !== undefined && !isAnsweredAt(replyTarget(groups[0][0].event), item.event));
  return elsewhere === -1 ? groups : groups.slice(0, elsewhere);
};

/**
 * Takes up the next turn of a lane that is held: the one that was interrupted by the end of a process, or a new one from what
 * waits. Gives the lane back when there is nothing to do yet. Runs in the transaction that claimed the lane or finished the turn before.
 */
export const beginTurn = async (tx: Writing, claim: Claim, policy: BeginPolicy): Promise<Begun> => {
  const { holdMs, stops, cutMs } = await heldLane(tx, claim.lane);
  let unfinished = await unfinishedTurn(tx, claim.lane);
  while (unfinished !== undefined && (await leave(tx, unfinished, { cutMs, policy }))) unfinished = await unfinishedTurn(tx, claim.lane);
  const waiting = unfinished === undefined ? await waitingItems(tx, claim.lane, mostWaiting) : [];
  const session = unfinished === undefined && waiting.length === 0 ? undefined : await findSession(tx, claim.lane.slice('turn:'.length));
  if (session !== undefined && unfinished !== undefined) return { ...(await resume(tx, claim, session, { turn: unfinished, policy })), stops };
  const last = waiting.at(-1);
  if (session === undefined || last === undefined) {
    await releaseLane(tx, claim, { more: false });
    return { type: 'wait', ms: undefined };
  }
  if (holdMs > 0) {
    await releaseLane(tx, claim, { more: true });
    return { type: 'wait', ms: holdMs };
  }
  const taken = takeTogether(groupItems(waiting), policy.busyMode(session));
  const items = taken.flat();
  const turn = await startTurn(tx, { sessionId: session.id, lane: claim.lane, target: policy.replyTo((items.at(-1) ?? last).event) });
  await joinTurn(tx, items.map((item) => item.id), turn.id);
  const unwritten = await writeGroups(tx, turn, taken, policy);
  return { type: 'turn', claim, turn, session, unwritten, inboxIds: items.map((item) => item.id), last: items.at(-1), resumed: false, firstReceivedMs: items[0]?.event.sentAtMs ?? 0, stops };
};

import { replyTarget } from '../core/message.ts';
import { countDenial } from '../store/accounts/accounts.ts';
import { closeItem, joinTurn, newestWaitingBefore, turnItems, waitingItems } from '../store/messages/inbox.ts';
import type { InboxItem } from '../store/messages/inbox.ts';
import { heldLane, releaseLane } from '../store/lanes/lanes.ts';
import type { Claim } from '../store/lanes/lanes.ts';
import { findSession } from '../store/sessions/sessions.ts';
import type { Session } from '../store/sessions/sessions.ts';
import { countAttempt, startTurn, unfinishedTurn } from '../store/sessions/turns.ts';
import type { RunningTurn } from '../store/sessions/turns.ts';
import type { Writing } from '../store/store.ts';
import type { BusyMode } from './busy-mode.ts';
import type { Wait } from './conversation-limits.ts';
import { endUnfinished } from './end-unfinished.ts';
import type { TurnPolicy } from './turn-policy.ts';
import { groupItems, isAnsweredAt } from './user-message.ts';
import type { ItemGroup } from './user-message.ts';
import { noMedia, writeGroup } from './write-group.ts';

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
  /** The newest message that had come when the turn began, answered by it or not: only a later one can overtake it. */
  readonly newestInboxId: number;
  readonly resumed: boolean;
  readonly firstReceivedMs: number;
  /** How often the lane had been asked to stop when the turn began. */
  readonly stops: number;
}

export type Begun = BegunTurn | Wait;

const mostWaiting = 200;

/** Writes messages without files into the transcript; answers those that still need theirs. */
const writeGroups = async (tx: Writing, turn: RunningTurn, groups: readonly ItemGroup[], policy: TurnPolicy): Promise<ItemGroup[]> => {
  for (const [i, group] of groups.entries()) {
    if (group[0].messageId !== null) continue;
    // Rows keep the order of the messages: from the first one with files on, everything waits for its files.
    if (group.some((item) => item.event.media.length > 0)) return groups.slice(i).filter((later) => later[0].messageId === null);
    await writeGroup(tx, turn, group, { media: noMedia, shared: policy.isShared(group) });
  }
  return [];
};

const resume = async (tx: Writing, claim: Claim, session: Session, found: { turn: RunningTurn; policy: TurnPolicy }): Promise<Omit<BegunTurn, 'stops'>> => {
  const { turn, policy } = found;
  await countAttempt(tx, turn.id);
  const items = await turnItems(tx, turn.id);
  const counted = { ...turn, attempts: turn.attempts + 1 };
  const unwritten = await writeGroups(tx, counted, groupItems(items), policy);
  const newestInboxId = Math.max(await newestWaitingBefore(tx, { lane: claim.lane, id: turn.id }), items.at(-1)?.id ?? 0);
  return { type: 'turn', claim, turn: counted, session, unwritten, inboxIds: items.map((item) => item.id), last: items.at(-1), newestInboxId, resumed: true, firstReceivedMs: items[0]?.event.sentAtMs ?? 0 };
};

/** What one turn answers: one message, or everything that waits and came from the same place, for an answer goes to one place only. */
const takeTogether = (groups: readonly ItemGroup[], mode: BusyMode): readonly ItemGroup[] => {
  if (mode === 'queue') return groups.slice(0, 1);
  const elsewhere = groups.findIndex(([item]) => groups[0] !== undefined && !isAnsweredAt(replyTarget(groups[0][0].event), item.event));
  return elsewhere === -1 ? groups : groups.slice(0, elsewhere);
};

/** Whoever was let in when they wrote may have been shut out since: their words wait no longer, and are counted like any that were denied. */
const turnAway = async (tx: Writing, items: readonly InboxItem[], policy: TurnPolicy): Promise<readonly InboxItem[]> => {
  const welcome: InboxItem[] = [];
  for (const item of items) {
    const { account, sender, chat, kind } = item.event;
    const reason = kind === 'notice' ? undefined : await policy.denied?.(tx, item.event);
    if (reason === undefined) welcome.push(item);
    else if (await closeItem(tx, item.id, reason)) await countDenial(tx, { account, userId: sender.id, chatId: chat.id, kind, reason });
  }
  return welcome;
};

/**
 * Takes up the next turn of a lane that is held: the one that was interrupted by the end of a process, or a new one from what
 * waits. Gives the lane back when there is nothing to do yet. Runs in the transaction that claimed the lane or finished the turn before.
 */
export const beginTurn = async (tx: Writing, claim: Claim, policy: TurnPolicy): Promise<Begun> => {
  const { holdMs, stops, cutMs } = await heldLane(tx, claim.lane);
  let unfinished = await unfinishedTurn(tx, claim.lane);
  while (unfinished !== undefined && (await endUnfinished(tx, unfinished, { cutMs, policy }))) unfinished = await unfinishedTurn(tx, claim.lane);
  const found = unfinished === undefined ? await waitingItems(tx, claim.lane, mostWaiting) : [];
  const waiting = await turnAway(tx, found, policy);
  const session = unfinished === undefined && waiting.length === 0 ? undefined : await findSession(tx, claim.lane.slice('turn:'.length));
  if (session !== undefined && unfinished !== undefined) return { ...(await resume(tx, claim, session, { turn: unfinished, policy })), stops };
  const last = waiting.at(-1);
  if (session === undefined || last === undefined) {
    for (const item of waiting) await closeItem(tx, item.id, 'its conversation was removed');
    await releaseLane(tx, claim, { more: found.length === mostWaiting });
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
  return { type: 'turn', claim, turn, session, unwritten, inboxIds: items.map((item) => item.id), last: items.at(-1), newestInboxId: last.id, resumed: false, firstReceivedMs: items[0]?.event.sentAtMs ?? 0, stops };
};

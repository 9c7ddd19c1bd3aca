import { readCommand } from '../commands/read-command.ts';
import { allCommands } from '../commands/registry.ts';
import { newSessionId } from '../core/ids.ts';
import { replyTarget } from '../core/message.ts';
import type { InboundEvent } from '../core/message.ts';
import { enqueueText } from '../delivery/compose.ts';
import { placeOf } from '../routing/place.ts';
import type { Place } from '../routing/place.ts';
import type { BusyMode } from '../sessions/busy-mode.ts';
import type { ResetReason } from '../sessions/reset-policy.ts';
import { resetPolicyFor } from '../sessions/reset-policy.ts';
import type { Decision } from '../store/messages/inbox.ts';
import { closeItem, countWaiting, findMessage, insertInboxItem, noteEdit, replaceWaitingText } from '../store/messages/inbox.ts';
import { enqueueLane, lockLane, turnLane } from '../store/lanes/lanes.ts';
import type { Session } from '../store/sessions/sessions.ts';
import { bindSession, boundSession, createSession, endSession, findSession, giveSession, lockSessionKey, reopenSession } from '../store/sessions/sessions.ts';
import { claimedPlace, releasePlace } from '../store/sessions/place-claims.ts';
import type { Writing } from '../store/store.ts';
import { unfinishedTurn } from '../store/sessions/turns.ts';
import { takeAnswer, takePress } from './answer.ts';
import type { Arrival, InboxDeps, Outcome } from './arrival.ts';
import { ConversationGone, Duplicate } from './arrival.ts';
import { dueReset } from './due-reset.ts';
import { holdMs } from './hold.ts';
import type { SessionChange } from './hooks/session-changes.ts';

/** Sooner than this, a further message is the same breath and needs no acknowledgement. */
const sameBreathMs = 3_000;

/** Calls that wait to be answered together are no queue: this many fit into one turn. */
const mostCalls = 200;

/** A conversation's own setting, else the account's, else the general one. Programs wait for an answer to each of their calls. */
export const busyModeOf = (deps: Pick<InboxDeps, 'settings' | 'account'>, session: Pick<Session, 'settings' | 'account'>): BusyMode => {
  const known = deps.account(session.account);
  if (known?.platform.surface === 'machine') return 'queue';
  return session.settings.busyMode ?? known?.common.busy_input_mode ?? deps.settings().display.busy_input_mode;
};

interface Seat {
  readonly place: Place;
  readonly sessionId: string;
  readonly lane: string;
  readonly decisions: readonly Decision[];
  readonly changes: readonly SessionChange[];
}

/** Finds the conversation that the event continues, or opens one. */
const seat = async (deps: InboxDeps, tx: Writing, arrival: Arrival): Promise<Seat> => {
  const { event, platform } = arrival;
  const settings = deps.settings();
  const place = placeOf(event, platform, { groupSessionsPerUser: settings.group_sessions_per_user, threadSessionsPerUser: settings.thread_sessions_per_user, agent: arrival.agent.id });
  await lockSessionKey(tx, place.sessionKey);
  const bound = await boundSession(tx, place.sessionKey);
  const route: Decision[] = [{ step: 'agent', verdict: `${place.agent}, ${arrival.agent.why}` }, { step: 'session key', verdict: place.sessionKey }];
  const found = (sessionId: string, verdict: string, changes: readonly SessionChange[] = []): Seat => ({ place, sessionId, lane: turnLane(sessionId), decisions: [...route, { step: 'session', verdict }], changes });
  const waiting = await takeClaim(tx, event, { place, bound: bound !== undefined });
  if (waiting !== undefined) return found(waiting, `${waiting}, handed over to this place`);
  if (bound !== undefined) {
    // It was handed over to a direct chat, which does not tell by itself whose it is.
    if (bound.userId === null && event.chat.type === 'dm') await giveSession(tx, bound.sessionId, event.sender.id);
    const due = await dueReset(settings, tx, { event, bound });
    const expired = bound.endReason === 'idle' || bound.endReason === 'daily' ? bound.endReason : undefined;
    if (due === undefined) {
      // Its time was over when the rules were different.
      if (expired !== undefined) await reopenSession(tx, bound.sessionId);
      return found(bound.sessionId, `${bound.sessionId}, continued`);
    }
    const reason = expired ?? due;
    const id = await openSession(deps, tx, arrival, { place, parentId: bound.sessionId });
    const ends = (await endSession(tx, bound.sessionId, reason)) ? [{ type: 'end', sessionId: bound.sessionId, reason } as const] : [];
    await announceReset(deps, tx, arrival, { reason, oldId: bound.sessionId, newId: id });
    return found(id, `${id}, new after ${reason} reset of ${bound.sessionId}`, [...ends, { type: 'start', sessionId: id, parentId: bound.sessionId }]);
  }
  const id = await openSession(deps, tx, arrival, { place });
  return found(id, `${id}, new`, [{ type: 'start', sessionId: id, parentId: null }]);
};

/** A conversation that was handed over to a place where everybody has their own: it goes to whoever speaks first, in a thread opened for it to everybody. */
const takeClaim = async (tx: Writing, event: InboundEvent, at: { place: Place; bound: boolean }): Promise<string | undefined> => {
  if (event.chat.type === 'dm' || at.place.shared) return undefined;
  const where = { account: event.account, chatId: event.chat.id, ...(event.chat.threadId !== undefined && { threadId: event.chat.threadId }) };
  const claim = await claimedPlace(tx, where);
  if (claim === undefined || (claim.lasting && at.bound)) return undefined;
  // Another gateway may have seen it, too: whoever takes it away has it.
  if (!claim.lasting && !(await releasePlace(tx, where))) return undefined;
  await bindSession(tx, { sessionKey: at.place.sessionKey, sessionId: claim.sessionId, target: replyTarget(event) });
  return claim.sessionId;
};

const openSession = async (deps: InboxDeps, tx: Writing, arrival: Arrival, at: { place: Place; parentId?: string }): Promise<string> => {
  const { event } = arrival;
  const id = newSessionId(new Date(deps.clock.now()));
  await createSession(tx, {
    id,
    agent: at.place.agent,
    account: event.account,
    chatType: event.chat.type,
    ...(at.place.shared ? {} : { userId: event.sender.id }),
    ...(at.parentId !== undefined && { parentId: at.parentId }),
  });
  await bindSession(tx, { sessionKey: at.place.sessionKey, sessionId: id, target: replyTarget(event) });
  return id;
};

const announceReset = async (deps: InboxDeps, tx: Writing, arrival: Arrival, reset: { reason: ResetReason; oldId: string; newId: string }): Promise<void> => {
  const { event, platform } = arrival;
  const rule = resetPolicyFor(deps.settings(), { account: event.account, type: event.chat.type });
  const old = await findSession(tx, reset.oldId);
  if (!rule.notify || rule.notify_exclude_platforms.includes(platform.name) || (old?.turnCount ?? 0) === 0) return;
  const why = reset.reason === 'idle' ? `after ${rule.idle_minutes} quiet minutes` : `as every day at ${rule.at_hour}:00`;
  const text = `◐ A new conversation has begun, ${why}. The earlier one is still there: \`/resume ${reset.oldId}\``;
  await enqueueText(tx, platform, { key: `reset:${reset.newId}`, target: replyTarget(event), text });
};

/**
 * An edit of a message that still waits changes it; one of a message that was answered is a new message; one that changes no text, or
 * another's words, is nothing. A command must not wait, so a message that is edited into one gives way to it.
 */
const asEdit = async (tx: Writing, event: InboundEvent, isCommand: boolean): Promise<string | undefined> => {
  if (event.kind !== 'edit' || event.messageId === undefined) return undefined;
  const original = await findMessage(tx, { account: event.account, chatId: event.chat.id, nativeId: event.messageId });
  if (original === undefined) return undefined;
  // Some platforms leave it to us: nobody puts words into another's mouth.
  if (original.event.sender.id !== event.sender.id) return 'an edit of what somebody else wrote';
  if (original.event.text === event.text) return 'the edit does not change the text';
  // In the order of everybody who puts something into a conversation: a turn that begins beside us has the new words, or this becomes a message of its own.
  if (original.sessionId !== '') {
    await lockSessionKey(tx, original.sessionKey);
    await lockLane(tx, { lane: turnLane(original.sessionId), kind: 'turn' });
  }
  if (isCommand) await closeItem(tx, original.id, 'edited into a command');
  else if (await replaceWaitingText(tx, original, event.text)) return 'the edit was taken over into the waiting message';
  await noteEdit(tx, original, event.text);
  return undefined;
};

const skip = async (tx: Writing, arrival: Arrival, skipped: { reason: string; decisions: readonly Decision[] }): Promise<number> => {
  const id = await insertInboxItem(tx, { event: arrival.event, class: 'chat', decisions: [...arrival.verdict.decisions, ...skipped.decisions], skipped: skipped.reason });
  if (id === undefined) throw new Duplicate();
  return id;
};

/** Stores an event that hooks let have no effect, and passes on what they have to say about it. */
export const turnAway = async (tx: Writing, arrival: Arrival, { reason, answer }: { reason: string; answer: string | undefined }): Promise<Outcome> => {
  const id = await skip(tx, arrival, { reason, decisions: [] });
  if (answer !== undefined) await enqueueText(tx, arrival.platform, { key: `hook:${id}`, target: replyTarget(arrival.event), text: answer, inboxId: id });
  return { accepted: 'skipped', reason };
};

/** What nobody has to answer goes on to where it belongs. */
const passOn = async (deps: InboxDeps, tx: Writing, arrival: Arrival): Promise<Outcome> => {
  const { event } = arrival;
  const reason = 'passed on as it is';
  const id = await skip(tx, arrival, { reason, decisions: [{ step: 'kind', verdict: reason }] });
  for (const [index, target] of (event.answerTo ?? []).entries()) {
    const platform = deps.account(target.account)?.platform;
    if (platform === undefined) throw new Error(`the account ${target.account} is not configured`);
    await enqueueText(tx, platform, { key: `inbox:${id}:to:${index + 1}`, target, text: event.text, inboxId: id });
  }
  return { accepted: 'stored', reason };
};

/** Tells once per turn that a message was seen although an answer is still being worked on. */
const acknowledge = async (deps: InboxDeps, tx: Writing, arrival: Arrival, at: { lane: string; mode: BusyMode; inboxId: number }): Promise<void> => {
  const turn = await unfinishedTurn(tx, at.lane);
  if (turn === undefined || !deps.settings().display.busy_ack_enabled || turn.ageMs < sameBreathMs || arrival.platform.surface === 'machine' || arrival.platform.display.tier === 'minimal') return;
  const texts: Readonly<Record<BusyMode, string>> = {
    interrupt: '⚡ I stop what I was doing and read your message.',
    queue: '⏳ I will answer this when I am done with the last one.',
    steer: '⏩ Noted, I take it into account.',
  };
  await enqueueText(tx, arrival.platform, { key: `busy:${turn.id}`, target: replyTarget(arrival.event), text: texts[at.mode], quiet: true, inboxId: at.inboxId });
};

/** Stores an event that may have an effect, in the conversation it belongs to. */
export const admit = async (deps: InboxDeps, tx: Writing, arrival: Arrival): Promise<Outcome> => {
  const { event } = arrival;
  if (event.arranged?.verbatim === true) return passOn(deps, tx, arrival);
  const isCommand = readCommand(event, arrival.platform, () => allCommands(deps.settings())) !== undefined;
  const edit = await asEdit(tx, event, isCommand);
  if (edit !== undefined) {
    await skip(tx, arrival, { reason: edit, decisions: [] });
    return { accepted: 'skipped', reason: edit };
  }
  const press = await takePress(tx, arrival);
  if (press !== undefined) return press;
  const seated = await seat(deps, tx, arrival);
  const outcome = await takeUp(deps, tx, arrival, { seated, isCommand });
  return seated.changes.length === 0 ? outcome : { ...outcome, sessions: { sessionKey: seated.place.sessionKey, changes: seated.changes } };
};

/** What becomes of an event in its conversation: a command, an answer to a question, or something to be answered. */
const takeUp = async (deps: InboxDeps, tx: Writing, arrival: Arrival, at: { seated: Seat; isCommand: boolean }): Promise<Outcome> => {
  const { event, verdict } = arrival;
  const { seated, isCommand } = at;
  const decisions = [...verdict.decisions, ...seated.decisions];
  const place = { lane: seated.lane, sessionId: seated.sessionId, sessionKey: seated.place.sessionKey };
  if (isCommand) {
    const id = await insertInboxItem(tx, { event, class: 'control', decisions: [...decisions, { step: 'kind', verdict: 'command' }], place });
    if (id === undefined) throw new Duplicate();
    return { accepted: 'stored', reason: 'command', controlId: id };
  }
  const answered = await takeAnswer(tx, arrival, place);
  if (answered !== undefined) return answered;
  return converse(deps, tx, arrival, { ...seated, decisions: [...decisions, { step: 'kind', verdict: 'conversation' }] });
};

const converse = async (deps: InboxDeps, tx: Writing, arrival: Arrival, seated: Seat): Promise<Outcome> => {
  const { event } = arrival;
  const waiting = await countWaiting(tx, seated.lane);
  const { queue_limit: limit } = deps.settings().agent;
  if (waiting >= (event.batch?.kind === 'calls' ? Math.max(limit, mostCalls) : limit)) return refuse(tx, arrival, { ...seated, waiting });
  // First of all, for it takes the lane's lock: a turn that begins beside us either sees the message or is seen by it.
  const { running } = await enqueueLane(tx, { lane: seated.lane, kind: 'turn', delayMs: await holdMs(tx, seated.lane, event) });
  // It may have been removed before the lock was ours.
  if (tx.engine === 'postgres' && (await findSession(tx, seated.sessionId)) === undefined) throw new ConversationGone();
  const id = await insertInboxItem(tx, { event, class: 'chat', decisions: seated.decisions, place: { lane: seated.lane, sessionId: seated.sessionId, sessionKey: seated.place.sessionKey } });
  if (id === undefined) throw new Duplicate();
  if (running) await whileRunning(deps, tx, arrival, { lane: seated.lane, sessionId: seated.sessionId, inboxId: id });
  return { accepted: 'stored', reason: 'conversation' };
};

const whileRunning = async (deps: InboxDeps, tx: Writing, arrival: Arrival, at: { lane: string; sessionId: string; inboxId: number }): Promise<void> => {
  const session = await findSession(tx, at.sessionId);
  if (session === undefined) return;
  const mode = busyModeOf(deps, session);
  if (mode === 'interrupt') tx.notify('interrupt', at.lane);
  await acknowledge(deps, tx, arrival, { lane: at.lane, mode, inboxId: at.inboxId });
};

const refuse = async (tx: Writing, arrival: Arrival, full: Seat & { waiting: number }): Promise<Outcome> => {
  const reason = `queue full: ${full.waiting} messages are waiting`;
  const id = await skip(tx, arrival, { reason, decisions: full.decisions });
  const text = `⛔ ${full.waiting} of your messages are already waiting, so I did not take this one. Please send it again later, or /stop.`;
  await enqueueText(tx, arrival.platform, { key: `full:${id}`, target: replyTarget(arrival.event), text, inboxId: id });
  return { accepted: 'skipped', reason };
};

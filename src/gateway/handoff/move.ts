import { platformOf } from '../../core/ids.ts';
import type { Chat, ChatType, Target } from '../../core/message.ts';
import { isShared, sessionKey } from '../../core/session-key.ts';
import type { SessionSharing } from '../../core/session-key.ts';
import { enqueueText } from '../../delivery/compose.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Adapter, Platform } from '../../platforms/contract.ts';
import { enqueueNotice } from '../../sessions/notice.ts';
import { extendHandoff, noteMove } from '../../store/sessions/handoffs.ts';
import type { PendingHandoff } from '../../store/sessions/handoffs.ts';
import { bindingsOf, bindSession, boundSession, changeSettings, endSession, findSession, lockSessionKey, moveSession, reopenSession, unbindSession } from '../../store/sessions/sessions.ts';
import { claimPlace, releasePlace } from '../../store/sessions/place-claims.ts';
import type { Session, SessionSettings } from '../../store/sessions/sessions.ts';
import type { Store, Writing } from '../../store/store.ts';
import { HandoffRefused, resolveDestination } from './destination.ts';
import type { DestinationDeps } from './destination.ts';

export interface MoveDeps extends DestinationDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  adapter(account: string): Adapter | undefined;
  sharing(): SessionSharing;
  /** Who answers what is said in a chat, as far as the chat alone tells. */
  agentAt(account: string, chat: Chat): string;
}

export interface Claim {
  readonly owner: string;
  readonly leaseMs: number;
}

/** A conversation that stands in its new place, and what stood there before. */
export interface Moved {
  readonly sessionId: string;
  readonly target: Target;
  /** Undefined where everybody has a conversation of their own: it waits for whoever speaks first. */
  readonly sessionKey: string | undefined;
  readonly before: { readonly sessionId: string; readonly target: Target; readonly userId: string | null } | undefined;
  /** Where the conversation lived. */
  readonly from: { readonly account: string; readonly chatType: ChatType; readonly userId: string | null };
  /** Names the turn with which the agent reports at the new place. */
  readonly noticeId: string;
}

const threadTimeoutMs = 15_000;

export const nameOf = (session: Pick<Session, 'id' | 'title'>): string => session.title ?? session.id.slice(0, 8);

/** A thread of its own in the destination, where there can be one. Without, the conversation goes into the chat itself. */
const openThread = async (deps: MoveDeps, home: Target, session: Session): Promise<Target | undefined> => {
  const adapter = deps.adapter(home.account);
  if (adapter?.threads === undefined || home.threadId !== undefined) return undefined;
  try {
    return await adapter.threads.open(home, `Hermes — ${nameOf(session)}`, AbortSignal.timeout(threadTimeoutMs));
  } catch (error) {
    deps.log.warn({ err: error, session: session.id, account: home.account, chat: home.chatId }, 'handoff.no_thread');
    return undefined;
  }
};

/** A thread may be a chat of its own, which belongs to the one it was opened in. */
const chatOf = (target: Target, home: Target): Chat => ({
  id: target.chatId,
  type: target.chatType,
  ...(target.chatId !== home.chatId && { parentId: home.chatId }),
  ...(target.threadId !== undefined && { threadId: target.threadId }),
  ...(target.scopeId !== undefined && { scopeId: target.scopeId }),
});

/** The key under which messages will come in at a place whose conversation does not depend on who speaks. It may name another agent than the conversation has, which keeps its own. */
const sharedKey = (deps: MoveDeps, platform: Platform, account: string, chat: Chat): string | undefined => {
  if (chat.type !== 'dm' && !isShared(chat, deps.sharing())) return undefined;
  return sessionKey({ agent: deps.agentAt(account, chat), account, chat }, { ...deps.sharing(), ...(platform.scopeInKey === true && { scopeInKey: true }), ...(platform.canonicalId !== undefined && { canonicalId: (id: string) => platform.canonicalId?.(id) ?? id }) });
};

const noticeText = (session: Session, from: string): string =>
  `[This conversation${session.title === null ? '' : ` ("${session.title}")`} was handed over from ${from} to this chat. Everything said so far is above. Say in one or two sentences that you are here now and where things stand; do not use tools.]`;

/** Points the new place at the conversation; what the place had before is set aside and can be resumed. */
const bind = async (tx: Writing, at: { session: Session; target: Target; key: string | undefined; inThread: boolean }): Promise<Moved['before']> => {
  const { session, target, key } = at;
  if (key === undefined) {
    await claimPlace(tx, target, { sessionId: session.id, lasting: at.inThread });
    return undefined;
  }
  await lockSessionKey(tx, key);
  const before = await boundSession(tx, key);
  await bindSession(tx, { sessionKey: key, sessionId: session.id, target });
  if (before === undefined || before.sessionId === session.id) return undefined;
  await endSession(tx, before.sessionId, 'switched');
  return { sessionId: before.sessionId, target: before.target, userId: before.userId };
};

const mostFormer = 10;

/** Whoever had it may take it back. */
const withFormer = ({ settings }: Pick<Session, 'settings'>, { account, userId }: Pick<Session, 'account' | 'userId'>): SessionSettings => {
  if (userId === null) return settings;
  const others = (settings.former ?? []).filter((each) => each.account !== account || each.userId !== userId);
  return { ...settings, former: [...others, { account, userId }].slice(-mostFormer) };
};

/** Moves a conversation to where it was asked to go and has the agent report there. Throws `HandoffRefused` when that is impossible. */
export const moveConversation = async (deps: MoveDeps, handoff: PendingHandoff, claim: Claim): Promise<Moved> => {
  const { store, clock } = deps;
  const { session, home } = await store.read(async (db) => ({ session: await findSession(db, handoff.sessionId), home: await resolveDestination(db, deps, handoff.destination) }));
  if (session === undefined) throw new HandoffRefused('the conversation does not exist any more');
  const platform = deps.account(home.account)?.platform;
  if (platform === undefined || deps.adapter(home.account) === undefined) throw new HandoffRefused(`platform '${home.account}' is not active in this gateway`);
  const thread = await openThread(deps, home, session);
  const target = thread ?? home;
  const key = sharedKey(deps, platform, target.account, chatOf(target, home));
  const noticeId = `handoff:${session.id}:${clock.now()}`;
  const from = deps.account(session.account)?.platform.label ?? session.account;
  return store.write(async (tx) => {
    await extendHandoff(tx, session.id, claim);
    if (session.endedAtMs !== null) await reopenSession(tx, session.id);
    const before = await bind(tx, { session, target, key, inThread: thread !== undefined });
    // Not every platform calls a direct chat as it calls the person: it is theirs whose the last one was, or who speaks there next.
    await moveSession(tx, session.id, { account: target.account, chatType: target.chatType, userId: target.chatType === 'dm' ? (before?.userId ?? null) : null });
    // To open a thread takes a while, in which its settings may have been changed.
    await changeSettings(tx, session.id, withFormer((await findSession(tx, session.id)) ?? session, session));
    await enqueueNotice(tx, { sessionId: session.id, key: noticeId, text: noticeText(session, from), nowMs: clock.now(), at: { target, sessionKey: key ?? '' } });
    const moved: Moved = { sessionId: session.id, target, sessionKey: key, before, from: { account: session.account, chatType: session.chatType, userId: session.userId }, noticeId };
    await noteMove(tx, session.id, moved);
    return moved;
  });
};

/** Nothing could be said at the new place: it gets back what it had, and the conversation stays where it was. */
export const undoMove = async (tx: Writing, moved: Moved): Promise<void> => {
  await moveSession(tx, moved.sessionId, moved.from);
  if (moved.sessionKey === undefined) {
    await releasePlace(tx, moved.target);
    return;
  }
  const now = await boundSession(tx, moved.sessionKey);
  if (now?.sessionId !== moved.sessionId) return;
  if (moved.before === undefined) return unbindSession(tx, moved.sessionKey);
  await reopenSession(tx, moved.before.sessionId);
  await bindSession(tx, { sessionKey: moved.sessionKey, sessionId: moved.before.sessionId, target: moved.before.target });
};

/** The former places begin anew with their next message. Those that are chats are told where the conversation went. */
export const leaveFormerPlaces = async (tx: Writing, deps: MoveDeps, moved: Moved): Promise<void> => {
  const session = await findSession(tx, moved.sessionId);
  const where = deps.account(moved.target.account)?.platform.label ?? moved.target.account;
  for (const binding of await bindingsOf(tx, moved.sessionId)) {
    if (binding.sessionKey === moved.sessionKey) continue;
    await unbindSession(tx, binding.sessionKey);
    const platform = deps.platforms().find(({ name }) => name === platformOf(binding.target.account));
    // A terminal says it in its own way, and leaves.
    if (platform === undefined || session === undefined || platform.surface === 'terminal') continue;
    const text = `↗ This conversation continues in ${where}. The next message here begins a new one; \`/resume ${session.title ?? session.id}\` brings this one back.`;
    await enqueueText(tx, platform, { key: `${moved.noticeId}:left:${binding.sessionKey}`, target: binding.target, text });
  }
};

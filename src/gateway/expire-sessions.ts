import type { Hooks } from '../hooks/hooks.ts';
import type { Logger } from '../lib/logger.ts';
import { resetPolicyFor, resetReason } from '../sessions/reset-policy.ts';
import type { ResetReason, ResetSection } from '../sessions/reset-policy.ts';
import { newestProcessMs } from '../store/agents/processes.ts';
import { workOf } from '../store/retention/session-retention.ts';
import { openPlaces } from '../store/sessions/open-places.ts';
import type { OpenPlace } from '../store/sessions/open-places.ts';
import { bindingsOf, endSession, findSession, lockSessionKey } from '../store/sessions/sessions.ts';
import { databaseNow } from '../store/store.ts';
import type { Store, Writing } from '../store/store.ts';
import { apiAccount } from './api/place.ts';
import { placeOfTarget } from './hooks/contexts.ts';
import { tellSessionChanges } from './hooks/session-changes.ts';

export interface ExpireDeps {
  readonly store: Store;
  readonly log: Logger;
  readonly hooks: Pick<Hooks, 'emit'>;
  readonly signal: AbortSignal;
  settings(): ResetSection;
}

const pageSize = 200;

/** Of one look: whoever looks after ends asks a model about each. */
const mostAtOnce = 50;

const neverResets = ({ session_reset, reset_by_type, reset_by_platform }: ResetSection): boolean =>
  [session_reset, ...Object.values(reset_by_type), ...Object.values(reset_by_platform)].every(({ mode }) => mode === 'none');

/** Programs name the conversation that they continue, however long ago that was. */
const reasonAt = (settings: ResetSection, { target, activeAtMs, nowMs }: Pick<OpenPlace, 'target' | 'activeAtMs' | 'nowMs'>, processStartedMs?: number): ResetReason | undefined =>
  target.account === apiAccount ? undefined : resetReason(resetPolicyFor(settings, { account: target.account, type: target.chatType }), { lastActiveMs: activeAtMs, nowMs, ...(processStartedMs !== undefined && { processStartedMs }) });

/** A program in its background holds it back for a while only, as the rule says. */
const isAtWork = async (tx: Writing, sessionId: string): Promise<boolean> => !['process', undefined].includes(await workOf(tx, sessionId));

/** Ends it unless somebody was faster, something is under way, or one of its places still keeps it. The places stay bound: the next message there finds why it ended, and begins the next one. */
const endExpired = async (deps: ExpireDeps, tx: Writing, sessionId: string): Promise<ResetReason | undefined> => {
  const keys = (await bindingsOf(tx, sessionId)).map(({ sessionKey }) => sessionKey);
  // A message that arrives now has either been stored before this, and waits, or comes after it.
  for (const key of keys.toSorted()) await lockSessionKey(tx, key);
  const session = await findSession(tx, sessionId);
  if (session === undefined || session.endedAtMs !== null || (await isAtWork(tx, sessionId))) return undefined;
  const processStartedMs = await newestProcessMs(tx, sessionId);
  const nowMs = await databaseNow(tx);
  const reasons = (await bindingsOf(tx, sessionId)).map(({ target }) => reasonAt(deps.settings(), { target, activeAtMs: session.activeAtMs, nowMs }, processStartedMs));
  const [reason] = reasons;
  if (reason === undefined || reasons.includes(undefined)) return undefined;
  return (await endSession(tx, sessionId, reason)) ? reason : undefined;
};

const expireOne = async (deps: ExpireDeps, { sessionId, sessionKey, target }: OpenPlace): Promise<boolean> => {
  const reason = await deps.store.write((tx) => endExpired(deps, tx, sessionId));
  if (reason === undefined) return false;
  const session = await deps.store.read((db) => findSession(db, sessionId));
  deps.log.info({ session: sessionId, reason }, 'session.expired');
  tellSessionChanges(deps.hooks, { ...placeOfTarget(target, { agent: session?.agent ?? 'main', userId: session?.userId ?? null }), session_key: sessionKey }, [{ type: 'end', sessionId, reason }]);
  return true;
};

/**
 * Ends conversations whose time is over although nobody writes, some at each look, so that memory gets its turn soon. Nobody is told: the next message
 * begins a new conversation and says so. Answers how many it has ended.
 */
export const expireSessions = async (deps: ExpireDeps): Promise<number> => {
  const { store, signal } = deps;
  if (neverResets(deps.settings())) return 0;
  let count = 0;
  for (let afterKey = '', more = true; more; ) {
    const page = await store.read((db) => openPlaces(db, { afterKey, limit: pageSize }));
    for (const place of page) {
      if (signal.aborted || count >= mostAtOnce) return count;
      if (reasonAt(deps.settings(), place) !== undefined && (await expireOne(deps, place))) count += 1;
    }
    afterKey = page.at(-1)?.sessionKey ?? afterKey;
    more = page.length === pageSize;
  }
  return count;
};

import type { InboundEvent } from '../core/message.ts';
import type { ResetReason, ResetSection } from '../sessions/reset-policy.ts';
import { resetPolicyFor, resetReason } from '../sessions/reset-policy.ts';
import { countWaiting } from '../store/messages/inbox.ts';
import { laneFacts, turnLane } from '../store/lanes/lanes.ts';
import { newestProcessMs } from '../store/agents/processes.ts';
import type { BoundSession } from '../store/sessions/sessions.ts';
import type { Reading } from '../store/store.ts';

/** Why the conversation of a place starts anew with an event; undefined when it goes on. A conversation at work does not start anew underneath itself. */
export const dueReset = async (settings: ResetSection, db: Reading, at: { readonly event: InboundEvent; readonly bound: BoundSession }): Promise<ResetReason | undefined> => {
  const { account, chat } = at.event;
  const { sessionId, activeAtMs: lastActiveMs, nowMs } = at.bound;
  const rule = resetPolicyFor(settings, { account, type: chat.type });
  if (resetReason(rule, { lastActiveMs, nowMs }) === undefined) return undefined;
  const processStartedMs = await newestProcessMs(db, sessionId);
  const reason = resetReason(rule, { lastActiveMs, nowMs, ...(processStartedMs !== undefined && { processStartedMs }) });
  const lane = turnLane(sessionId);
  return (await laneFacts(db, lane)).running || (await countWaiting(db, lane)) > 0 ? undefined : reason;
};

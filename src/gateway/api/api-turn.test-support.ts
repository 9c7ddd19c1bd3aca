import assert from 'node:assert/strict';
import { replyTarget } from '../../core/message.ts';
import { beginTurn } from '../../sessions/begin.ts';
import type { BegunTurn } from '../../sessions/begin.ts';
import type { TurnPolicy } from '../../sessions/turn-policy.ts';
import { claimLane, enqueueLane, turnLane } from '../../store/lanes/lanes.ts';
import { insertInboxItem } from '../../store/messages/inbox.ts';
import { createSession } from '../../store/sessions/sessions.ts';
import type { Store, Writing } from '../../store/store.ts';
import { apiAccount } from './place.ts';

const policy: TurnPolicy = { maxAttempts: 3, continueWithinMs: () => 3_600_000, busyMode: () => 'queue', isShared: () => false, replyTo: replyTarget, anchorAll: () => false, platform: () => undefined };

/** A program's call under this id waits in a new session. */
export const submitCall = async (tx: Writing, sessionId: string, callId: string): Promise<void> => {
  const lane = turnLane(sessionId);
  await createSession(tx, { id: sessionId, agent: 'main', account: apiAccount, chatType: 'dm' });
  await enqueueLane(tx, { lane, kind: 'turn' });
  const event = { account: apiAccount, kind: 'message', nativeId: callId, chat: { id: 'c', type: 'dm' }, sender: { id: 'k1', isBot: false }, text: 'x', media: [], addressed: true, mentioned: false, sentAtMs: 0 } as const;
  await insertInboxItem(tx, { event, class: 'chat', decisions: [], place: { lane, sessionId, sessionKey: '' } });
};

/** The turn that answers what waits in the session. */
export const beginCall = (store: Store, sessionId: string, owner: string): Promise<BegunTurn> =>
  store.write(async (tx) => {
    const claim = (await claimLane(tx, { lane: turnLane(sessionId), owner, leaseMs: 60_000 })) ?? assert.fail('the lane is held');
    const begun = await beginTurn(tx, claim, policy);
    return begun.type === 'turn' ? begun : assert.fail('nothing to do');
  });

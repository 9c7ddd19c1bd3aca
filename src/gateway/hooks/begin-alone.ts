import { newId, newSessionId } from '../../core/ids.ts';
import type { Target } from '../../core/message.ts';
import { homeOf } from '../../delivery/home-channel.ts';
import type { HomeDeps } from '../../delivery/home-channel.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Platform } from '../../platforms/contract.ts';
import { enqueueNotice } from '../../sessions/notice.ts';
import { createSession } from '../../store/sessions/sessions.ts';
import type { Reading, Store } from '../../store/store.ts';

export interface BeginAloneDeps extends HomeDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly platforms: readonly Platform[];
  /** Those that run. */
  accounts(): readonly string[];
}

/** The first chat that was named for what nobody asked for; without one, a chat of our own that the owner can look into. */
const ownerTarget = async (db: Reading, deps: BeginAloneDeps): Promise<Target | undefined> => {
  for (const account of deps.accounts()) {
    const home = await homeOf(db, deps, account);
    if (home !== undefined) return home;
  }
  const own = deps.platforms.find(({ name, newChatId }) => newChatId !== undefined && deps.account(name) !== undefined);
  const chatId = own?.newChatId?.();
  return own === undefined || chatId === undefined ? undefined : { account: own.name, chatId, chatType: 'dm' };
};

/** Has an agent work on a text in a conversation of its own; what it says last goes to the owner. Throws where there is no place for it. */
export const beginAlone = async (deps: BeginAloneDeps, agent: string, text: string): Promise<void> => {
  const { store, clock } = deps;
  const nowMs = clock.now();
  const target = await store.read((db) => ownerTarget(db, deps));
  if (target === undefined) throw new Error('there is no chat that its answer could go to; name one with /sethome');
  const sessionId = newSessionId(new Date(nowMs));
  const key = newId('in', nowMs);
  await store.write(async (tx) => {
    await createSession(tx, { id: sessionId, agent, account: target.account, chatType: target.chatType });
    await enqueueNotice(tx, { sessionId, key, text, nowMs, at: { target, sessionKey: '' } });
  });
};

import { awaitMessage, enqueueMessage } from '../delivery/send-message.ts';
import type { Clock } from '../lib/clock.ts';
import type { AccountOptions } from '../platforms/account-options.ts';
import type { Platform } from '../platforms/contract.ts';
import type { BegunTurn } from '../sessions/begin.ts';
import { withdrawPending } from '../store/messages/outbox.ts';
import type { Store } from '../store/store.ts';

export interface TellPausedDeps {
  readonly store: Store;
  readonly clock: Clock;
  find(account: string): { readonly platform: Platform; readonly common: AccountOptions } | undefined;
}

const patienceMs = 3000;
const text = '⏸️ I have to stop for a moment. I go on with this when I am back.';

const wantsToKnow = (deps: TellPausedDeps, { turn, session }: BegunTurn): boolean => {
  const known = deps.find(turn.target.account);
  return known !== undefined && known.common.gateway_restart_notification && known.platform.asyncDelivery && (known.platform.surface ?? 'chat') === 'chat' && known.platform.display.tier !== 'minimal' && session.account === turn.target.account;
};

/** Chats whose turn was put down by a shutdown are told so, once each. What cannot be said in time is not said later, when it would be wrong. */
export const tellPaused = async (deps: TellPausedDeps, suspended: readonly BegunTurn[]): Promise<void> => {
  const { store, clock } = deps;
  const places = new Map(suspended.filter((begun) => wantsToKnow(deps, begun)).map((begun) => [JSON.stringify([begun.turn.target.account, begun.turn.target.chatId, begun.turn.target.threadId]), begun]));
  if (places.size === 0) return;
  const keys = await store.write(async (tx) => {
    const enqueued: string[] = [];
    for (const { turn } of places.values()) {
      const platform = deps.find(turn.target.account)?.platform;
      const { replyTo: _answered, ...target } = turn.target;
      if (platform !== undefined) enqueued.push(...(await enqueueMessage(tx, platform, { key: `turn:${turn.id}:paused:${clock.now()}`, target, text })));
    }
    return enqueued;
  });
  const over = new AbortController();
  await Promise.all(keys.map((key) => awaitMessage({ store, clock, timeoutMs: patienceMs }, [key], over.signal)));
  await store.write((tx) => withdrawPending(tx, keys, 'the gateway had ended'));
};

import { PlatformError } from '../core/errors.ts';
import type { Target } from '../core/message.ts';
import type { DeliveryGate } from '../delivery/gate.ts';
import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { bindingsOf, findSession } from '../store/sessions/sessions.ts';
import type { Store } from '../store/store.ts';
import type { Accounts } from './accounts.ts';

export interface NamingDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly accounts: Pick<Accounts, 'adapter'>;
  readonly gate: Pick<DeliveryGate, 'waitMs' | 'close'>;
  readonly signal: AbortSignal;
}

const timeoutMs = 10_000;
const mostAttempts = 4;
/** Names have limits of their own: Discord lets a thread be renamed twice in ten minutes. */
const longestWaitMs = 15 * 60_000;
const defaultWaitMs = 5_000;

/** One try; answers how long to wait before the next, and nothing when there is none to be made. */
const tryOnce = async ({ store, accounts, gate, signal }: NamingDeps, sessionId: string, target: Target): Promise<number | undefined> => {
  const closedMs = gate.waitMs(target);
  if (closedMs > 0) return closedMs;
  // It may have been changed while we waited.
  const title = (await store.read((db) => findSession(db, sessionId)))?.title;
  if (title == null) return undefined;
  try {
    await accounts.adapter(target.account)?.names?.set(target, title, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
    return undefined;
  } catch (error) {
    if (!(error instanceof PlatformError) || error.code !== 'rate_limited') throw error;
    // What covers one chat may cover its name alone, for which no message has to wait.
    return error.facts.scope === 'account' ? gate.close(target, error) : (error.facts.retryAfterMs ?? defaultWaitMs);
  }
};

const nameChat = async (deps: NamingDeps, sessionId: string, target: Target): Promise<void> => {
  try {
    for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
      const waitMs = await tryOnce(deps, sessionId, target);
      if (waitMs === undefined || waitMs > longestWaitMs || !(await slept(deps.clock, waitMs, deps.signal))) return;
    }
  } catch (error) {
    deps.log.debug({ err: error, session: sessionId, account: target.account, chat: target.chatId }, 'chat.not_named');
  }
};

/** A conversation has a title; its chats show it where they can. Beside everything else: nobody waits for it, and what fails is only not shown. */
export const nameChats = async (deps: NamingDeps, sessionId: string): Promise<void> => {
  try {
    const places = await deps.store.read((db) => bindingsOf(db, sessionId));
    const named = places.filter(({ target }) => deps.accounts.adapter(target.account)?.names !== undefined);
    await Promise.all(named.map(({ target }) => nameChat(deps, sessionId, target)));
  } catch (error) {
    deps.log.debug({ err: error, session: sessionId }, 'chat.not_named');
  }
};

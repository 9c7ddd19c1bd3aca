import type { PlatformError } from '../core/errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { RateGate } from '../lib/rate-gate.ts';
import { closeGate, closedGates, gateLeftMs } from '../store/messages/gates.ts';
import type { Store } from '../store/store.ts';

interface Place {
  readonly account: string;
  readonly chatId: string;
}

export interface GateOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}

const accountScope = (account: string): string => `account:${account}`;
const chatScope = (place: Place): string => `chat:${place.account}:${place.chatId}`;
const defaultWaitMs = 5_000;

/** The one rate gate of all accounts and chats. What a platform asked for is kept in the store: it holds after a restart, and for every other process. */
export class DeliveryGate {
  readonly #gate: RateGate;
  readonly #options: GateOptions;

  private constructor(options: GateOptions) {
    this.#options = options;
    this.#gate = new RateGate(() => options.clock.now());
  }

  static async open(options: GateOptions): Promise<DeliveryGate> {
    const gate = new DeliveryGate(options);
    const { store } = options;
    store.listen('gate', (scope) => void gate.#look(scope));
    for (const { scope, leftMs } of await store.read(closedGates)) gate.#gate.close(scope, leftMs);
    return gate;
  }

  waitMs(place: Place): number {
    return this.#gate.waitMs(accountScope(place.account), chatScope(place));
  }

  /** Closes what a rate limit covers, at once; answers for how long. That it could not be kept is logged and changes nothing for this process. */
  async close(place: Place, error: PlatformError): Promise<number> {
    const { store, log } = this.#options;
    const forMs = error.facts.retryAfterMs ?? defaultWaitMs;
    const scope = error.facts.scope === 'account' ? accountScope(place.account) : chatScope(place);
    this.#gate.close(scope, forMs);
    try {
      await store.write(async (tx) => {
        await closeGate(tx, { scope, forMs, reason: error.code });
        tx.notify('gate', scope);
      });
    } catch (failure) {
      log.error({ err: failure, account: place.account, chat: place.chatId }, 'gate.not_kept');
    }
    return forMs;
  }

  /** Whoever says that something was closed is believed only as far as the store knows of it. */
  async #look(scope: string): Promise<void> {
    const { store, log } = this.#options;
    try {
      const leftMs = await store.read((db) => gateLeftMs(db, scope));
      if (leftMs > 0) this.#gate.close(scope, leftMs);
    } catch (failure) {
      log.warn({ err: failure }, 'gate.not_read');
    }
  }
}

import type { PlatformError } from '../core/errors.ts';
import type { Clock } from '../lib/clock.ts';
import { RateGate } from '../lib/rate-gate.ts';
import { closeGate, closedGates } from '../store/gates.ts';
import type { Store } from '../store/store.ts';

interface Place {
  readonly account: string;
  readonly chatId: string;
}

const accountScope = (account: string): string => `account:${account}`;
const chatScope = (place: Place): string => `chat:${place.account}:${place.chatId}`;
const defaultWaitMs = 5_000;

/** The one rate gate of all accounts and chats. What a platform asked for is kept in the store and holds after a restart. */
export class DeliveryGate {
  readonly #gate: RateGate;
  readonly #store: Store;

  private constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#gate = new RateGate(() => clock.now());
  }

  static async open(store: Store, clock: Clock): Promise<DeliveryGate> {
    const gate = new DeliveryGate(store, clock);
    for (const { scope, leftMs } of await store.read(closedGates)) gate.#gate.close(scope, leftMs);
    return gate;
  }

  waitMs(place: Place): number {
    return this.#gate.waitMs(accountScope(place.account), chatScope(place));
  }

  /** Closes what a rate limit covers; answers for how long. */
  async close(place: Place, error: PlatformError): Promise<number> {
    const forMs = error.facts.retryAfterMs ?? defaultWaitMs;
    const scope = error.facts.scope === 'account' ? accountScope(place.account) : chatScope(place);
    this.#gate.close(scope, forMs);
    await this.#store.write((tx) => closeGate(tx, { scope, forMs, reason: error.code }));
    return forMs;
  }
}

import type { Context } from 'hono';
import { ownerCaller } from '../../gateway/api/place.ts';
import type { Clock } from '../../lib/clock.ts';
import { apiScopes, apiSpend, findApiKey, noteApiKeyUse, spendDay } from '../../store/api/api-keys.ts';
import type { ApiKeyLimits, ApiScope } from '../../store/api/api-keys.ts';
import type { Store } from '../../store/store.ts';
import { clientOf } from '../client.ts';
import type { HttpEnv } from '../client.ts';
import type { FailureLimiter } from '../failure-limiter.ts';
import { sameSecret } from '../logins.ts';
import { ApiError } from './api-error.ts';
import { hashApiSecret } from './secret.ts';

/** Who calls the API: a key, not a person. */
export interface Caller {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly ApiScope[];
  readonly limits: ApiKeyLimits;
  /** When it was last noted that the key is used; left out for the key of the configuration. */
  readonly usedAtMs?: number | null;
}

export interface CallersDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly limiter: FailureLimiter;
  readonly trustedProxies: readonly string[];
  /** The owner's key from the configuration. */
  readonly key: string | undefined;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

const wrongKey = (message: string): ApiError => new ApiError(401, message, { code: 'invalid_api_key', headers: { 'www-authenticate': 'Bearer' } });

interface Window {
  count: number;
  readonly sinceMs: number;
}

/** Knows who calls, and how much each of them does. Counts are of this process. */
export class Callers {
  readonly #deps: CallersDeps;
  readonly #minutes = new Map<string, Window>();
  readonly #running = new Map<string, number>();

  constructor(deps: CallersDeps) {
    this.#deps = deps;
  }

  /** Throws the refusal for whoever has no living key. The store is asked every time: a key that was revoked is dead at once. */
  async identify(c: Context<HttpEnv>): Promise<Caller> {
    const { store, clock, limiter, trustedProxies } = this.#deps;
    const { address } = clientOf(c, trustedProxies);
    this.#refuseGuesser(address);
    const secret = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
    if (secret === undefined) throw wrongKey('You have to send a key: Authorization: Bearer <key>.');
    const caller = await this.#callerOf(secret);
    if (caller === undefined) {
      limiter.failed(address);
      throw wrongKey('Incorrect API key provided.');
    }
    // Of many keys that are tried at once, the right one does not count either.
    this.#refuseGuesser(address);
    if (caller.usedAtMs !== undefined && clock.now() - (caller.usedAtMs ?? 0) > minuteMs) await store.write((tx) => noteApiKeyUse(tx, caller.id), { patient: true });
    return caller;
  }

  #refuseGuesser(address: string): void {
    const waitMs = this.#deps.limiter.waitMs(address);
    if (waitMs > 0) throw new ApiError(429, 'Too many wrong keys from your address.', { code: 'too_many_failures', retryAfterMs: waitMs });
  }

  /** Throws the refusal for a call that is one too many; otherwise the call counts until it is disposed of. */
  async admit(caller: Caller): Promise<Disposable> {
    await this.#checkSpend(caller);
    this.#countMinute(caller);
    const running = this.#running.get(caller.id) ?? 0;
    if (running >= (caller.limits.atOnce ?? Infinity)) throw new ApiError(429, `This key may ask for ${caller.limits.atOnce} answers at a time.`, { code: 'rate_limit_exceeded', retryAfterMs: 1000 });
    this.#running.set(caller.id, running + 1);
    let open = true;
    return {
      [Symbol.dispose]: () => {
        if (!open) return;
        open = false;
        this.#running.set(caller.id, (this.#running.get(caller.id) ?? 1) - 1);
      },
    };
  }

  async #callerOf(secret: string): Promise<Caller | undefined> {
    const { key, store } = this.#deps;
    // Also for the owner's key, which would otherwise be found before the wrong ones of the same moment are counted.
    const found = await store.read((db) => findApiKey(db, hashApiSecret(secret)));
    return key !== undefined && sameSecret(secret, key) ? { id: ownerCaller, name: ownerCaller, scopes: apiScopes, limits: {} } : found;
  }

  async #checkSpend({ id, limits }: Caller): Promise<void> {
    if (limits.usdPerDay === undefined) return;
    const nowMs = this.#deps.clock.now();
    const spent = await this.#deps.store.read((db) => apiSpend(db, { keyId: id, day: spendDay(nowMs) }));
    if (spent >= limits.usdPerDay) throw new ApiError(429, `This key has spent the ${limits.usdPerDay} USD that it may spend in a day.`, { code: 'insufficient_quota', retryAfterMs: dayMs - (nowMs % dayMs) });
  }

  #countMinute({ id, limits }: Caller): void {
    const nowMs = this.#deps.clock.now();
    const known = this.#minutes.get(id);
    const window = known !== undefined && Math.abs(nowMs - known.sinceMs) < minuteMs ? known : { count: 0, sinceMs: nowMs };
    if (window.count >= (limits.perMinute ?? Infinity)) throw new ApiError(429, `This key may make ${limits.perMinute} calls a minute.`, { code: 'rate_limit_exceeded', retryAfterMs: window.sinceMs + minuteMs - nowMs });
    window.count += 1;
    this.#minutes.set(id, window);
  }
}

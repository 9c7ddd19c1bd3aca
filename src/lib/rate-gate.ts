interface Closing {
  readonly sinceMs: number;
  readonly forMs: number;
}

/** How many are remembered before those that are open again are dropped. */
const mostClosings = 2000;

/** Remembers until when a scope may not be used. Everything that goes out in that scope asks, whoever sends it. */
export class RateGate {
  readonly #now: () => number;
  readonly #closings = new Map<string, Closing>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The later end wins. */
  close(scope: string, forMs: number): void {
    const now = this.#now();
    if (this.#closings.size >= mostClosings) for (const other of this.#closings.keys()) this.waitMs(other);
    const known = this.#at(scope, now);
    if (known === undefined || now + forMs > known.sinceMs + known.forMs) this.#closings.set(scope, { sinceMs: now, forMs });
  }

  /** Zero when every scope is open. */
  waitMs(...scopes: readonly string[]): number {
    const now = this.#now();
    let wait = 0;
    for (const scope of scopes) {
      const closing = this.#at(scope, now);
      if (closing === undefined) continue;
      const left = closing.sinceMs + closing.forMs - now;
      if (left <= 0) this.#closings.delete(scope);
      else wait = Math.max(wait, left);
    }
    return wait;
  }

  /** A clock that was set back begins the wait anew: it must not last until the old time comes again. */
  #at(scope: string, now: number): Closing | undefined {
    const known = this.#closings.get(scope);
    if (known === undefined || known.sinceMs <= now) return known;
    const again = { ...known, sinceMs: now };
    this.#closings.set(scope, again);
    return again;
  }
}

/** Remembers until when a scope may not be used. Everything that goes out in that scope asks, whoever sends it. */
export class RateGate {
  readonly #now: () => number;
  readonly #until = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The later end wins. */
  close(scope: string, forMs: number): void {
    const until = this.#now() + forMs;
    if (until > (this.#until.get(scope) ?? 0)) this.#until.set(scope, until);
  }

  /** Zero when every scope is open. */
  waitMs(...scopes: readonly string[]): number {
    const now = this.#now();
    let wait = 0;
    for (const scope of scopes) {
      const until = this.#until.get(scope);
      if (until === undefined) continue;
      if (until <= now) this.#until.delete(scope);
      else wait = Math.max(wait, until - now);
    }
    return wait;
  }
}

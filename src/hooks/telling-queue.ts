import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';

export interface TellingOptions<Item> {
  readonly clock: Clock;
  readonly most: number;
  /** Deals with one item. Never rejects. */
  tell(item: Item, signal: AbortSignal): Promise<void>;
  /** They were not told: too many waited already, or we are ending. */
  onDropped(count: number, why: 'full' | 'closed'): void;
}

/** Tells things one after another, in order, beside everything else. What comes when it is full is dropped and counted. */
export class TellingQueue<Item> {
  readonly #options: TellingOptions<Item>;
  readonly #waiting: Item[] = [];
  readonly #stop = new AbortController();
  #working: Promise<void> = Promise.resolve();
  #busy = false;
  #closed = false;

  constructor(options: TellingOptions<Item>) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(item: Item): void {
    if (this.#closed) return;
    if (this.#waiting.length >= this.#options.most) return this.#options.onDropped(1, 'full');
    this.#waiting.push(item);
    if (!this.#busy) this.#working = this.#work();
  }

  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    const done = new AbortController();
    await Promise.race([this.#working, slept(this.#options.clock, graceMs, done.signal)]);
    done.abort();
    const left = this.#waiting.splice(0).length;
    if (left > 0) this.#options.onDropped(left, 'closed');
    this.#stop.abort();
    await this.#working;
  }

  async #work(): Promise<void> {
    this.#busy = true;
    for (let item = this.#waiting.shift(); item !== undefined; item = this.#waiting.shift()) await this.#options.tell(item, this.#stop.signal);
    this.#busy = false;
  }
}

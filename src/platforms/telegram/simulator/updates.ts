import type { Clock } from '../../../lib/clock.ts';
import type { Json } from '../wire.ts';
import { Refusal } from './refusal.ts';

export type Update = Json & { readonly update_id: number };

interface PollRequest {
  readonly offset: number;
  readonly limit: number;
  readonly timeoutMs: number;
  /** Aborted when the client has left. */
  readonly gone: AbortSignal;
}

type Outcome = 'ready' | 'interrupted';

interface HeldPoll {
  answer(outcome: Outcome): void;
  refuse(error: Refusal): void;
}

const takenOver = (): Refusal => new Refusal(409, 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running');

/** How many delivered updates can be delivered again. */
export const historyLimit = 10_000;

/** Telegram's queue of one bot: everything stays until a later offset, or a webhook's 200, confirms it. */
export class UpdateQueue {
  /** Told about each update to deliver; set while there is a webhook. */
  listener: ((update: Update) => void) | undefined;
  acknowledged = 0;
  readonly #clock: Clock;
  readonly #waiting = new Map<number, Update>();
  readonly #history = new Map<number, Update>();
  /** Updates to deliver once more although they are confirmed. */
  #repeats: Update[] = [];
  #nextId = 100_000_001;
  #held: HeldPoll | undefined;
  #waking = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  push(content: Json): Update {
    const update: Update = { update_id: this.#nextId, ...content };
    this.#nextId += 1;
    this.#waiting.set(update.update_id, update);
    this.#history.set(update.update_id, update);
    if (this.#history.size > historyLimit) this.#history.delete(this.#history.keys().next().value ?? 0);
    this.listener?.(update);
    this.#wake();
    return update;
  }

  again(updateId: number): void {
    const update = this.#history.get(updateId);
    if (update === undefined) throw new Error(`no update ${updateId} to deliver again`);
    if (this.listener !== undefined) {
      this.listener(update);
      return;
    }
    this.#repeats.push(update);
    this.#wake();
  }

  confirm(updateId: number): void {
    if (this.#waiting.delete(updateId)) this.acknowledged += 1;
  }

  pending(): readonly Update[] {
    return [...this.#waiting.values()];
  }

  /** `interrupted`: nothing happened, look again whether a fault was planned. */
  async poll({ offset, limit, timeoutMs, gone }: PollRequest): Promise<readonly Update[] | 'interrupted'> {
    this.#held?.refuse(takenOver());
    this.#confirmBelow(offset);
    const updates = this.#ready(limit);
    if (updates.length > 0 || timeoutMs === 0) return updates;
    if ((await this.#hold(timeoutMs, gone)) === 'interrupted') return 'interrupted';
    return gone.aborted ? [] : this.#ready(limit);
  }

  /** Wakes a held poll so that a fault takes effect at once. */
  interrupt(): void {
    this.#held?.answer('interrupted');
  }

  #confirmBelow(offset: number): void {
    const from = offset < 0 ? ([...this.#waiting.keys()].at(offset) ?? 0) : offset;
    for (const id of this.#waiting.keys()) {
      if (id >= from) return;
      this.confirm(id);
    }
  }

  #ready(limit: number): readonly Update[] {
    const updates = this.#repeats;
    this.#repeats = [];
    for (const update of this.#waiting.values()) {
      if (updates.length >= limit) break;
      updates.push(update);
    }
    return updates;
  }

  /** One turn of the event loop later, so that what is said together arrives together. */
  #wake(): void {
    if (this.#waking || this.#held === undefined) return;
    this.#waking = true;
    setImmediate(() => {
      this.#waking = false;
      this.#held?.answer('ready');
    });
  }

  #hold(timeoutMs: number, gone: AbortSignal): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const over = new AbortController();
      const finish = (act: () => void): void => {
        if (this.#held !== held) return;
        this.#held = undefined;
        over.abort();
        gone.removeEventListener('abort', leave);
        act();
      };
      const held: HeldPoll = { answer: (outcome) => finish(() => resolve(outcome)), refuse: (error) => finish(() => reject(error)) };
      const leave = (): void => held.answer('ready');
      this.#held = held;
      gone.addEventListener('abort', leave, { once: true });
      this.#clock.sleep(timeoutMs, over.signal).then(leave, () => undefined);
    });
  }
}

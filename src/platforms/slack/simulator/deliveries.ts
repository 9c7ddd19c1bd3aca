import { randomUUID } from 'node:crypto';
import type { PayloadKind } from '../take.ts';
import type { Json } from '../wire.ts';

/** One thing that Slack tells the app. */
export interface Delivery {
  readonly kind: PayloadKind;
  readonly payload: Json;
  readonly retry: number;
}

/** A way to the app. */
export interface Carrier {
  /** Answers whether the app has been told; otherwise it waits. */
  carry(delivery: Delivery, id: string): boolean;
}

const mostKept = 10_000;

/** What Slack has to tell, and what the app has confirmed. Without a way to the app it waits. */
export class Deliveries {
  acknowledged = 0;
  /** Slack keeps everything to itself, and nobody can see that from outside. */
  deaf = false;
  carrier: Carrier | undefined;
  readonly #open = new Map<string, Delivery>();
  readonly #history = new Map<string, Delivery>();
  #waiting: Delivery[] = [];

  publish(delivery: Delivery, nativeId?: string): void {
    if (nativeId !== undefined) {
      this.#history.set(nativeId, delivery);
      if (this.#history.size > mostKept) this.#history.delete(this.#history.keys().next().value ?? '');
    }
    if (!this.deaf) this.#send(delivery);
  }

  again(nativeId: string): void {
    const delivery = this.#history.get(nativeId);
    if (delivery === undefined) throw new Error(`nothing called ${nativeId} to deliver again`);
    this.#send({ ...delivery, retry: delivery.retry + 1 });
  }

  /** The app is there. */
  flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const delivery of waiting) this.#send(delivery);
  }

  confirm(id: string): void {
    if (this.#open.delete(id)) this.acknowledged += 1;
  }

  #send(delivery: Delivery): void {
    const id = randomUUID();
    this.#open.set(id, delivery);
    if (this.#open.size > mostKept) this.#open.delete(this.#open.keys().next().value ?? '');
    if (this.carrier?.carry(delivery, id) === true) return;
    this.#open.delete(id);
    this.#waiting.push(delivery);
  }
}

import type { Clock } from '../../../lib/clock.ts';
import { newChains } from '../../../lib/chains.ts';
import { sign } from '../signature.ts';
import { record, text } from '../wire.ts';
import type { Carrier, Deliveries, Delivery } from './deliveries.ts';

const retryMs = 25;

const bodyOf = ({ kind, payload }: Pick<Delivery, 'kind' | 'payload'>): { readonly type: string; readonly body: string } => {
  switch (kind) {
    case 'events_api':
      return { type: 'application/json', body: JSON.stringify(payload) };
    case 'interactive':
      return { type: 'application/x-www-form-urlencoded', body: new URLSearchParams({ payload: JSON.stringify(payload) }).toString() };
    case 'slash_commands':
      return { type: 'application/x-www-form-urlencoded', body: new URLSearchParams(Object.entries(payload).map(([name, value]): [string, string] => [name, String(value)])).toString() };
    default:
      return kind satisfies never;
  }
};

/** What a call of Slack looks like. */
export const signedCall = (delivery: Delivery, secret: string, nowMs: number): { readonly headers: Readonly<Record<string, string>>; readonly body: string } => {
  const { type, body } = bodyOf(delivery);
  const timestamp = String(Math.floor(nowMs / 1000));
  const retried = delivery.retry === 0 ? {} : { 'x-slack-retry-num': String(delivery.retry), 'x-slack-retry-reason': 'http_timeout' };
  return { headers: { 'content-type': type, 'x-slack-request-timestamp': timestamp, 'x-slack-signature': sign(secret, timestamp, body), ...retried }, body };
};

/** Posts to the address of the app, and again until it answers 200. */
export class Calls implements Carrier {
  url: string | undefined;
  readonly #deliveries: Deliveries;
  readonly #secret: string;
  readonly #clock: Clock;
  readonly #chains = newChains();
  readonly #stop = new AbortController();

  constructor(deliveries: Deliveries, { secret, clock }: { readonly secret: string; readonly clock: Clock }) {
    this.#deliveries = deliveries;
    this.#secret = secret;
    this.#clock = clock;
  }

  carry(delivery: Delivery, id: string): boolean {
    const { url } = this;
    if (url === undefined) return false;
    const channel = text(record(delivery.payload['event'])?.['channel']) ?? text(delivery.payload['channel_id']) ?? '';
    void this.#chains.run(channel, () => this.#deliver(delivery, id, url));
    return true;
  }

  close(): void {
    this.#stop.abort();
  }

  async #deliver(delivery: Delivery, id: string, url: string): Promise<void> {
    for (let retry = delivery.retry; !this.#stop.signal.aborted; retry += 1) {
      if (await this.#post({ ...delivery, retry }, url)) {
        this.#deliveries.confirm(id);
        return;
      }
      await this.#clock.sleep(retryMs);
    }
  }

  async #post(delivery: Delivery, url: string): Promise<boolean> {
    try {
      const response = await fetch(url, { method: 'POST', ...signedCall(delivery, this.#secret, this.#clock.now()), signal: this.#stop.signal });
      await response.arrayBuffer();
      return response.ok;
    } catch {
      return false;
    }
  }
}

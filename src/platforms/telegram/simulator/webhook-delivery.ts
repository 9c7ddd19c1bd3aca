import type { Clock } from '../../../lib/clock.ts';
import { record } from '../wire.ts';
import type { Update, UpdateQueue } from './updates.ts';

interface Hook {
  readonly url: string;
  readonly secret: string | undefined;
  readonly stop: AbortController;
}

const retryMs = 25;

/** The chat an update is about, as far as it has one: Telegram delivers those of one chat one after the other. */
const laneOf = (update: Update): string => {
  const content = Object.values(update).map(record).find((value) => value !== undefined);
  const message = record(content?.['message']) ?? content;
  return String(record(message?.['chat'])?.['id'] ?? '');
};

/** Posts updates to the bot's address, and again until it answers 200. */
export class WebhookDelivery {
  lastError: string | undefined;
  /** Where to call instead of the public address. */
  reachableAt: string | undefined;
  readonly #updates: UpdateQueue;
  readonly #clock: Clock;
  readonly #lanes = new Map<string, Promise<void>>();
  #hook: Hook | undefined;

  constructor(updates: UpdateQueue, clock: Clock) {
    this.#updates = updates;
    this.#clock = clock;
  }

  get url(): string {
    return this.#hook?.url ?? '';
  }

  set(url: string, secret: string | undefined): void {
    this.remove();
    const hook = { url, secret, stop: new AbortController() };
    this.#hook = hook;
    this.#updates.listener = (update) => this.#enqueue(update, hook);
    for (const update of this.#updates.pending()) this.#enqueue(update, hook);
  }

  remove(): void {
    this.#hook?.stop.abort();
    this.#hook = undefined;
    this.#updates.listener = undefined;
  }

  #enqueue(update: Update, hook: Hook): void {
    const lane = laneOf(update);
    this.#lanes.set(lane, (this.#lanes.get(lane) ?? Promise.resolve()).then(() => this.#deliver(update, hook)));
  }

  async #deliver(update: Update, hook: Hook): Promise<void> {
    while (!hook.stop.signal.aborted) {
      if (await this.#post(update, hook)) {
        this.#updates.confirm(update.update_id);
        return;
      }
      await this.#clock.sleep(retryMs);
    }
  }

  async #post(update: Update, { url, secret, stop }: Hook): Promise<boolean> {
    try {
      const headers = { 'content-type': 'application/json', ...(secret !== undefined && { 'x-telegram-bot-api-secret-token': secret }) };
      const response = await fetch(this.reachableAt ?? url, { method: 'POST', headers, body: JSON.stringify(update), signal: stop.signal });
      await response.arrayBuffer();
      this.lastError = response.ok ? undefined : `Wrong response from the webhook: ${response.status}`;
      return response.ok;
    } catch (error) {
      this.lastError = error instanceof Error ? error.message : 'Connection failed';
      return false;
    }
  }
}

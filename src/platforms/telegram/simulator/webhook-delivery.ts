import type { Clock } from '../../../lib/clock.ts';
import { record } from '../wire.ts';
import type { Update, UpdateQueue } from './updates.ts';

export interface WebhookDelivery {
  set(url: string, secret: string | undefined): void;
  remove(): void;
  readonly url: string;
  /** Where to call instead of the public address. */
  reach(url: string): void;
  readonly lastError: string | undefined;
  close(): void;
}

const retryMs = 25;

/** The chat an update is about, as far as it has one: Telegram delivers those of one chat one after the other. */
const laneOf = (update: Update): string => {
  const content = Object.values(update).map(record).find((value) => value !== undefined);
  const message = record(content?.['message']) ?? content;
  return String(record(message?.['chat'])?.['id'] ?? '');
};

/** Posts updates to the bot's address, and again until it answers 200. */
export const newWebhookDelivery = (updates: UpdateQueue, clock: Clock): WebhookDelivery => {
  let current: { readonly url: string; readonly secret: string | undefined; readonly stop: AbortController } | undefined;
  let reachable: string | undefined;
  let lastError: string | undefined;
  const lanes = new Map<string, Promise<void>>();

  const post = async (update: Update, hook: NonNullable<typeof current>): Promise<boolean> => {
    try {
      const headers = { 'content-type': 'application/json', ...(hook.secret !== undefined && { 'x-telegram-bot-api-secret-token': hook.secret }) };
      const response = await fetch(reachable ?? hook.url, { method: 'POST', headers, body: JSON.stringify(update), signal: hook.stop.signal });
      await response.arrayBuffer();
      lastError = response.ok ? undefined : `Wrong response from the webhook: ${response.status}`;
      return response.ok;
    } catch (error) {
      lastError = error instanceof Error ? error.message : 'Connection failed';
      return false;
    }
  };

  const deliver = async (update: Update, hook: NonNullable<typeof current>): Promise<void> => {
    while (!hook.stop.signal.aborted) {
      if (await post(update, hook)) {
        updates.confirm(update.update_id);
        return;
      }
      await clock.sleep(retryMs);
    }
  };

  const enqueue = (update: Update): void => {
    const hook = current;
    if (hook === undefined) return;
    const lane = laneOf(update);
    lanes.set(lane, (lanes.get(lane) ?? Promise.resolve()).then(() => deliver(update, hook)));
  };

  const remove = (): void => {
    current?.stop.abort();
    current = undefined;
    updates.onPush(undefined);
  };

  return {
    set(url, secret) {
      remove();
      current = { url, secret, stop: new AbortController() };
      updates.onPush(enqueue);
      for (const update of updates.pending()) enqueue(update);
    },
    remove,
    get url() {
      return current?.url ?? '';
    },
    reach: (url) => (reachable = url),
    get lastError() {
      return lastError;
    },
    close: remove,
  };
};

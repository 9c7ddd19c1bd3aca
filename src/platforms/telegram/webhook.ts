import { createHash, timingSafeEqual } from 'node:crypto';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { PlatformError } from '../../core/errors.ts';
import type { Webhook } from '../contract.ts';
import { updateKinds } from './parse.ts';
import { take } from './receive.ts';
import type { Receiving } from './receive.ts';
import { integer, record, text } from './wire.ts';

export interface WebhookOptions {
  readonly url: string;
  readonly secret: string;
}

export interface WebhookReceiver {
  readonly webhook: Webhook;
  /** Registers the address with Telegram and takes calls until aborted. */
  run(receiving: Receiving, signal: AbortSignal): Promise<void>;
}

const maxBodyBytes = 4 * 1024 * 1024;
const checkEveryMs = 60_000;

const digest = (value: string): Buffer => createHash('sha256').update(value).digest();

/** Receives what Telegram posts to us. Telegram keeps an update until we answer 200, and sends those of one chat in order. */
export const newWebhook = ({ url, secret }: WebhookOptions): WebhookReceiver => {
  const expected = digest(secret);
  let current: Receiving | undefined;

  const routes = new Hono();
  routes.post(
    '/',
    async (context, next) => {
      const given = context.req.header('x-telegram-bot-api-secret-token') ?? '';
      if (!timingSafeEqual(digest(given), expected)) return context.body(null, 401);
      if (current === undefined) return context.body(null, 503);
      return next();
    },
    bodyLimit({ maxSize: maxBodyBytes, onError: (context) => context.body(null, 413) }),
    async (context) => {
      const update: unknown = await context.req.json().catch(() => undefined);
      if (update === undefined) return context.body(null, 400);
      const receiving = current;
      if (receiving === undefined) return context.body(null, 503);
      const updateId = integer(record(update)?.['update_id']);
      try {
        await take(receiving, receiving.parse(update, receiving.clock.now()), updateId);
      } catch (error) {
        receiving.log.error({ updateId, err: error }, 'telegram.webhook.not_stored');
        return context.body(null, 503);
      }
      receiving.inbox.alive();
      return context.body(null, 200);
    },
  );

  const register = (receiving: Receiving, signal: AbortSignal): Promise<unknown> =>
    receiving.api.repeatable('account', signal, (raw, s) =>
      raw.setWebhook({ url, secret_token: secret, allowed_updates: updateKinds, drop_pending_updates: false }, s),
    );

  /** A quiet webhook looks like a dead one, so Telegram is asked now and then which address it knows. */
  const registeredUrl = async (receiving: Receiving, signal: AbortSignal): Promise<string> => {
    const info = record(await receiving.api.repeatable('account', signal, (raw, s) => raw.getWebhookInfo(s)));
    receiving.inbox.alive();
    return text(info?.['url']) ?? '';
  };

  return {
    webhook: { guard: 'own', routes },
    async run(receiving, signal) {
      try {
        signal.throwIfAborted();
        current = receiving;
        await register(receiving, signal);
        // Compared with what Telegram made of our address, which need not be what we wrote.
        const ours = await registeredUrl(receiving, signal);
        for (let known = ours; known === ours; known = await registeredUrl(receiving, signal)) await receiving.clock.sleep(checkEveryMs, signal);
        throw new PlatformError('conflict', 'somebody else has changed the webhook of this bot');
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        current = undefined;
      }
    },
  };
};

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

/** Answers 200 only when the update is stored: until then Telegram sends it again. */
const takePosted = async (receiving: Receiving, update: unknown): Promise<200 | 503> => {
  const updateId = integer(record(update)?.['update_id']);
  try {
    await take(receiving, receiving.parse(update, receiving.clock.now()), updateId);
  } catch (error) {
    receiving.log.error({ updateId, err: error }, 'telegram.webhook.not_stored');
    return 503;
  }
  receiving.inbox.alive();
  return 200;
};

const webhookRoutes = (secret: string, current: () => Receiving | undefined): Hono => {
  const expected = digest(secret);
  const routes = new Hono();
  routes.use('/', async (context, next) => {
    const given = context.req.header('x-telegram-bot-api-secret-token') ?? '';
    if (!timingSafeEqual(digest(given), expected)) return context.body(null, 401);
    return next();
  });
  routes.post('/', bodyLimit({ maxSize: maxBodyBytes, onError: (context) => context.body(null, 413) }), async (context) => {
    const receiving = current();
    if (receiving === undefined) return context.body(null, 503);
    let update: unknown;
    try {
      update = await context.req.json();
    } catch (error) {
      receiving.log.warn({ err: error }, 'telegram.webhook.unreadable');
      return context.body(null, 400);
    }
    return context.body(null, await takePosted(receiving, update));
  });
  return routes;
};

/** A quiet webhook looks like a dead one, so Telegram is asked now and then which address it knows. */
const registeredUrl = async ({ api, inbox }: Receiving, signal: AbortSignal): Promise<string> => {
  const info = record(await api.repeatable('account', signal, (raw, s) => raw.getWebhookInfo(s)));
  inbox.alive();
  return text(info?.['url']) ?? '';
};

/** Ends only with an error: Telegram is unreachable, or somebody else has taken the bot over. */
const stayRegistered = async (receiving: Receiving, { url, secret }: WebhookOptions, signal: AbortSignal): Promise<never> => {
  const registration = { url, secret_token: secret, allowed_updates: updateKinds, drop_pending_updates: false };
  await receiving.api.repeatable('account', signal, (raw, s) => raw.setWebhook(registration, s));
  // Compared with what Telegram made of our address, which need not be what we wrote.
  const ours = await registeredUrl(receiving, signal);
  for (let known = ours; known === ours; known = await registeredUrl(receiving, signal)) await receiving.clock.sleep(checkEveryMs, signal);
  throw new PlatformError('conflict', 'somebody else has changed the webhook of this bot');
};

/** Receives what Telegram posts to us. Telegram sends the updates of one chat one after the other. */
export const newWebhook = (options: WebhookOptions): WebhookReceiver => {
  let current: Receiving | undefined;
  return {
    webhook: { guard: 'own', routes: webhookRoutes(options.secret, () => current) },
    async run(receiving, signal) {
      try {
        signal.throwIfAborted();
        current = receiving;
        await stayRegistered(receiving, options, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        current = undefined;
      }
    },
  };
};

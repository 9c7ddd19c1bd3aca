import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Inbox, Webhook } from '../contract.ts';
import { isSigned } from './signature.ts';
import type { Taker } from './take.ts';
import { parseJson, record, text } from './wire.ts';
import type { Json } from './wire.ts';
import type { Workspaces } from './workspaces.ts';

export interface CalledBySlack {
  readonly inbox: Inbox;
  readonly taker: Taker;
  readonly log: Logger;
}

export interface EventsApi {
  readonly webhook: Webhook;
  /** Takes calls until aborted. Rejects when Slack does not accept our tokens any more. */
  run(called: CalledBySlack, signal: AbortSignal): Promise<never>;
}

const maxBodyBytes = 4 * 1024 * 1024;
const checkEveryMs = 60_000;

type Call = { readonly type: 'challenge'; readonly challenge: string } | { readonly type: 'events_api' | 'interactive' | 'slash_commands'; readonly payload: Json };

/** Events come as JSON, presses as a form with JSON in it, slash commands as a form. */
const readCall = (body: string): Call | undefined => {
  const json = record(parseJson(body));
  if (json !== undefined) {
    if (json['type'] === 'url_verification') return { type: 'challenge', challenge: text(json['challenge']) ?? '' };
    return { type: 'events_api', payload: json };
  }
  const form = new URLSearchParams(body);
  if (form.has('command')) return { type: 'slash_commands', payload: Object.fromEntries(form) };
  const payload = record(parseJson(form.get('payload') ?? ''));
  return payload === undefined ? undefined : { type: 'interactive', payload };
};

/** Answers 200 only when the call is stored. A repeat is a call like any other: its first copy may never have come. */
const takeCall = async ({ taker, inbox, log }: CalledBySlack, call: Exclude<Call, { type: 'challenge' }>): Promise<200 | 503> => {
  inbox.alive();
  try {
    await taker.take(call.type, call.payload);
    return 200;
  } catch (error) {
    log.error({ err: error, type: call.type }, 'slack.call.not_stored');
    return 503;
  }
};

const eventRoutes = (secret: string, clock: Clock, current: () => CalledBySlack | undefined): Hono => {
  const routes = new Hono();
  routes.post('/', bodyLimit({ maxSize: maxBodyBytes, onError: (context) => context.body(null, 413) }), async (context) => {
    const body = await context.req.text();
    const { 'x-slack-signature': signature, 'x-slack-request-timestamp': sentAt } = context.req.header();
    if (!isSigned({ secret, signature, timestamp: sentAt, body, nowMs: clock.now() })) return context.body(null, 401);
    const called = current();
    if (called === undefined) return context.body(null, 503);
    const call = readCall(body);
    if (call === undefined) {
      called.log.warn({}, 'slack.call.unreadable');
      return context.body(null, 400);
    }
    return call.type === 'challenge' ? context.text(call.challenge) : context.body(null, await takeCall(called, call));
  });
  return routes;
};

/** Receives what Slack posts to us. */
export const newEventsApi = ({ secret, workspaces, clock }: { readonly secret: string; readonly workspaces: Workspaces; readonly clock: Clock }): EventsApi => {
  let current: CalledBySlack | undefined;
  return {
    webhook: { guard: 'own', routes: eventRoutes(secret, clock, () => current) },
    async run(called, signal) {
      current = called;
      try {
        // A quiet webhook looks like a dead one, so Slack is asked now and then whether it still knows us.
        for (;;) {
          called.inbox.alive();
          await clock.sleep(checkEveryMs, signal);
          await workspaces.check(signal);
        }
      } finally {
        current = undefined;
      }
    },
  };
};

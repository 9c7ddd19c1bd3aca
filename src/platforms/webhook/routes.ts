import { isIP } from 'node:net';
import { Hono } from 'hono';
import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { InboundEvent } from '../../core/message.ts';
import type { Chains } from '../../lib/chains.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Accepted, Inbox } from '../contract.ts';
import type { Answer, Answers } from './answers.ts';
import type { CoalescedCalls } from './coalesced-calls.ts';
import { firstUnmet } from './filters.ts';
import { isOwnComment } from './github-comments.ts';
import type { GithubComments } from './github-comments.ts';
import { placesOf } from './github-issue.ts';
import type { CallMemory } from './memory.ts';
import { noAuthentication } from './options.ts';
import type { Route, WebhookOptions } from './options.ts';
import { bodyFormat, chatIdOf, deliveryOf, eventFrom, eventOf, readPayload, takesEvent } from './parse.ts';
import type { Call } from './parse.ts';
import type { newRateLimit } from './rate.ts';
import { bearerToken, isSecret, verifyCall } from './signatures.ts';
import type { SignedCall, Verdict } from './signatures.ts';
import { valueAt } from './template.ts';

/** While calls are taken. */
export interface Receiving {
  readonly inbox: Inbox;
  readonly signal: AbortSignal;
}

export interface RouteDeps {
  readonly account: string;
  readonly options: WebhookOptions;
  readonly answers: Answers;
  readonly memory: CallMemory;
  readonly comments: Pick<GithubComments, 'allow'>;
  readonly coalesced: CoalescedCalls;
  /** Keeps the order of calls that are answered together. */
  readonly order: Chains;
  readonly mayCall: ReturnType<typeof newRateLimit>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Undefined while nothing is received. */
  receiving(): Receiving | undefined;
}

/** The address of whoever holds the other end of the connection, where the server tells. */
const peerOf = (context: Context): string | undefined => {
  const { incoming } = (context.env ?? {}) as { readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } } };
  return incoming?.socket?.remoteAddress?.replace(/^::ffff:/, '');
};

const outsideHeaders = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'cf-connecting-ip', 'origin', 'sec-fetch-site'];

const localHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/** A program on this machine that speaks to us itself: what a proxy passes on, or a page in the browser sends, may come from anywhere. */
const isLocal = (context: Context): boolean => {
  const peer = peerOf(context);
  const isHere = peer !== undefined && (peer === '::1' || (isIP(peer) === 4 && peer.startsWith('127.')));
  return isHere && localHost.test(context.req.header('host') ?? 'localhost') && outsideHeaders.every((name) => context.req.header(name) === undefined);
};

const findRoute = ({ options }: RouteDeps, context: Context): { readonly name: string; readonly route: Route } | undefined => {
  const name = context.req.param('route') ?? '';
  const route = Object.hasOwn(options.routes, name) ? options.routes[name] : undefined;
  return route === undefined ? undefined : { name, route };
};

const verify = ({ options, clock }: RouteDeps, context: Context, call: SignedCall, route: Route): Verdict => {
  if (route.secret === noAuthentication) return isLocal(context) ? { ok: true, scheme: 'bearer', proof: { type: 'token' } } : { ok: false, reason: 'this route is open to programs on this machine only' };
  const rules = { scheme: route.scheme, hmac: route.hmac, nowMs: clock.now(), toleranceSeconds: options.tolerance_seconds };
  const verdict = verifyCall(call, { ...rules, secret: route.secret });
  return verdict.ok || route.previous_secret === undefined ? verdict : verifyCall(call, { ...rules, secret: route.previous_secret });
};

/** The agent had nothing to say. */
const silence = /^\W*(?:silent|no[_ ]reply)\W*$/i;

/** How long to wait for an answer: until it is there, the time is over, the caller has left, or we stop. */
const awaitAnswer = async (deps: RouteDeps, context: Context, at: { readonly chatId: string; readonly delivery: string; readonly seconds: number; readonly signal: AbortSignal }): Promise<Response> => {
  const signal = AbortSignal.any([AbortSignal.timeout(at.seconds * 1000), at.signal, context.req.raw.signal]);
  const answer = await deps.answers.next(at.chatId, at.delivery, signal);
  if (answer === undefined) return context.json({ status: 'accepted', delivery: at.delivery }, 202);
  return context.json(silence.test(answer.text) ? { status: 'silent', delivery: at.delivery } : { status: 'answered', delivery: at.delivery, answer: answer.text });
};

/** Calls that are answered together are noted and stored one after another, so that both are in the same order. */
const store = (deps: RouteDeps, inbox: Inbox, event: InboundEvent, route: string): Promise<Accepted> => {
  if (event.batch === undefined) return inbox.accept(event);
  return deps.order.run(event.chat.id, async () => {
    await deps.coalesced.note(route, event.nativeId, { chatId: event.chat.id, nowMs: event.sentAtMs });
    return inbox.accept(event);
  });
};

/** What was answered to a delivery; of those that were answered together the answer to the last is the answer to all. */
const answersFor = async ({ answers, coalesced }: RouteDeps, at: { readonly name: string; readonly route: Route }, delivery: string): Promise<readonly Answer[]> => {
  const call = at.route.coalesce === undefined ? undefined : await coalesced.find(at.name, delivery);
  const all = await answers.list(call?.chatId ?? chatIdOf(at.route, at.name, delivery));
  if (call === undefined) return all.filter((answer) => answer.delivery === delivery);
  for (const answer of all) {
    const answered = await coalesced.find(at.name, answer.delivery);
    if (answered !== undefined && answered.order >= call.order) return all.filter((other) => other.delivery === answer.delivery);
  }
  return [];
};

const away = (context: Context): Response => context.json({ error: 'Nothing is received at the moment; try again.' }, 503, { 'retry-after': '1' });

/** A call that was let in and read: it becomes an event, unless the route does not want it. */
const take = async (deps: RouteDeps, context: Context, call: Call, payload: unknown): Promise<Response> => {
  const { route, routeName } = call;
  const { log, account, clock, memory } = deps;
  const receiving = deps.receiving();
  if (receiving === undefined) return away(context);
  const ignore = (reason: string): Response => {
    log.info({ route: routeName, reason }, 'webhook.ignored');
    return context.json({ status: 'ignored', reason });
  };
  const event = eventOf(call, payload);
  if (isOwnComment(payload)) return ignore('it is a comment of ours');
  if (!takesEvent(route, event, payload)) return ignore('the route does not take events of this kind');
  const unmet = firstUnmet(route.filters, payload);
  if (unmet !== undefined) return ignore(`filter ${unmet} does not hold`);
  const { id: delivery, memory: keys } = deliveryOf(call, payload);
  if (await memory.knows(routeName, keys)) return context.json({ status: 'duplicate', delivery });
  const places = placesOf(route, account, { payload, event, route: routeName });
  if (places === undefined) return ignore('it names no issue or pull request to comment on');
  if (places.issue !== undefined) await deps.comments.allow(places.issue, clock.now());
  const taken = eventFrom(call, { account, payload, event, delivery, deliver: places.deliver, nowMs: clock.now() });
  const accepted = await store(deps, receiving.inbox, taken, routeName);
  await memory.keep(routeName, keys, clock.now());
  if (accepted === 'skipped' || accepted === 'denied') return ignore('it was turned away');
  if (route.wait_seconds > 0) return awaitAnswer(deps, context, { chatId: chatIdOf(route, routeName, delivery), delivery, seconds: route.wait_seconds, signal: receiving.signal });
  if (accepted === 'duplicate') return context.json({ status: 'duplicate', delivery });
  return context.json({ status: taken.batch === undefined ? 'accepted' : 'coalesced', delivery }, 202);
};

const post = async (deps: RouteDeps, context: Context, at: { readonly name: string; readonly route: Route }): Promise<Response> => {
  const { clock, log } = deps;
  const call: SignedCall = { header: (name) => context.req.header(name), body: new Uint8Array(await context.req.arrayBuffer()) };
  const verdict = verify(deps, context, call, at.route);
  if (!verdict.ok) {
    log.warn({ route: at.name, reason: verdict.reason, peer: peerOf(context) }, 'webhook.refused');
    return context.json({ error: 'The call is not signed as this route wants it.' }, 401);
  }
  // A call that is not taken does not count.
  if (deps.receiving() === undefined) return away(context);
  const waitMs = deps.mayCall(at.name, at.route.rate_limit, clock.now());
  if (waitMs > 0) return context.json({ error: 'There were too many calls; try again later.' }, 429, { 'retry-after': String(Math.ceil(waitMs / 1000)) });
  const format = bodyFormat(call.header('content-type'));
  if (format === undefined) return context.json({ error: 'The body has to be JSON or a form.' }, 415);
  let payload: unknown;
  try {
    payload = readPayload(call.body, format);
  } catch (error) {
    log.warn({ route: at.name, err: error }, 'webhook.unreadable');
    return context.json({ error: 'The body cannot be read.' }, 400);
  }
  // Slack asks once whether somebody is here.
  const challenge = verdict.scheme === 'slack' && valueAt(payload, 'type') === 'url_verification' ? valueAt(payload, 'challenge') : undefined;
  if (typeof challenge === 'string') return context.json({ challenge });
  try {
    return await take(deps, context, { ...call, route: at.route, routeName: at.name, scheme: verdict.scheme, proof: verdict.proof }, payload);
  } catch (error) {
    log.error({ route: at.name, err: error }, 'webhook.not_stored');
    return context.json({ error: 'The call could not be stored; try again.' }, 503);
  }
};

/** `POST /<route>` takes a call; `GET /<route>?delivery=<id>`, with the secret as bearer token, shows what was answered to one. */
export const webhookRoutes = (deps: RouteDeps): Hono => {
  const routes = new Hono();
  const limit = bodyLimit({ maxSize: deps.options.max_body_bytes, onError: (context) => context.json({ error: `The body may have ${deps.options.max_body_bytes} bytes at most.` }, 413) });
  const unknown = (context: Context): Response => context.json({ error: 'There is no such route here.' }, 404);
  routes.post('/:route', async (context, next) => (findRoute(deps, context) === undefined ? unknown(context) : next()), limit, async (context) => {
    const at = findRoute(deps, context);
    return at === undefined ? unknown(context) : post(deps, context, at);
  });
  routes.get('/:route', async (context) => {
    const at = findRoute(deps, context);
    if (at === undefined) return unknown(context);
    const isOpen = at.route.secret === noAuthentication ? isLocal(context) : isSecret(bearerToken(context.req.header('authorization')), at.route.secret);
    if (!isOpen) return context.json({ error: 'Send the secret of the route as bearer token.' }, 401);
    const delivery = context.req.query('delivery');
    if (delivery === undefined && at.route.conversation === 'delivery') return context.json({ error: 'Say which delivery: ?delivery=<id>.' }, 400);
    return context.json({ answers: delivery === undefined ? await deps.answers.list(chatIdOf(at.route, at.name, '')) : await answersFor(deps, at, delivery) });
  });
  return routes;
};

import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import type { Context } from 'hono';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Platform, Webhook } from '../platforms/contract.ts';
import type { AuditedAct } from '../lib/audit-log.ts';
import type { Store } from '../store/store.ts';
import type { ApiDeps } from './api/app.ts';
import { callerAddress } from './client.ts';
import type { HttpEnv } from './client.ts';
import { copyRequest } from './copy-request.ts';
import { deviceCheckRoutes } from './device-checks.ts';
import { newFailureLimiter } from './failure-limiter.ts';
import type { FailureLimiter } from './failure-limiter.ts';
import { healthRoutes } from './health.ts';
import type { Readiness } from './health.ts';
import { limitBody } from './limit-body.ts';
import { loginRoutes, requireLogin } from './login.ts';
import type { LoginDeps } from './login.ts';
import type { Logins } from './logins.ts';
import { metricsRoutes } from './metrics.ts';
import { noteLockouts } from './note-lockouts.ts';
import type { HttpOptions } from './options.ts';
import { pageRoutes } from './page.ts';
import type { Page } from './page.ts';
import { peopleRoutes } from './people.ts';

import { guardBrowser, securityHeaders } from './security.ts';

export interface HttpDeps {
  readonly options: HttpOptions;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly logins: Logins;
  readonly metrics: Metrics;
  readonly readiness: () => Readiness | Promise<Readiness>;
  /** Asked for every request, so that accounts may come and go. */
  readonly webhook: (account: string) => Webhook | undefined;
  /** Whether an account that has no routes now will have them in a moment. */
  readonly expects?: (account: string) => boolean;
  /** Resolves when the account takes what arrives, when it is not about to, or when the signal says so. */
  readonly untilReceiving?: (account: string, signal: AbortSignal) => Promise<void>;
  readonly page: Page;
  readonly store: Store;
  /** Writes down what the owner does at the page. */
  audit(act: AuditedAct): void;
  /** For what some of them need their owner for. */
  readonly platforms?: readonly Platform[];
  /** The API for programs; without it there is none. */
  readonly api?: Pick<ApiDeps, 'options' | 'gate'>;
}

/** Whoever takes larger bodies checks them as they stream in; these are the sizes that may arrive at all. */
const maxBytes = { small: 16 * 1024, webhook: 8 * 1024 * 1024, login: 64 * 1024 * 1024 };

/** Passes a request on with the prefix taken off its path, as the account's routes expect it. */
const forward = (c: Context<HttpEnv>, webhook: Webhook, prefix: string): Response | Promise<Response> => {
  const url = new URL(c.req.url);
  url.pathname = url.pathname.slice(prefix.length) || '/';
  return webhook.routes.fetch(copyRequest(c.req.raw, { url }), c.env);
};

/** Signatures are guessed by programs: few tries, but a short wait, since the right caller may sit behind the same address. */
const signatureTries = { max: 20, windowMs: 60_000 };

/** What a tunnel says of its callers may be what they say of themselves, so all of them together have a limit too. */
const throughTunnel = { max: 200, windowMs: 60_000 };

interface ForgerLimits {
  readonly callers: FailureLimiter;
  readonly tunnels: FailureLimiter;
}

const newForgerLimits = (clock: Clock, onLocked: (address: string) => void): ForgerLimits => ({ callers: newFailureLimiter({ clock, ...signatureTries, onLocked }), tunnels: newFailureLimiter({ clock, ...throughTunnel, onLocked }) });

/** Whoever signs wrongly too often is not listened to for a while; a right signature forgives nothing, since it may come from somebody else. */
const limitForgers =
  ({ callers, tunnels }: ForgerLimits, trustedProxies: readonly string[], take: (c: Context<HttpEnv>) => Promise<Response>) =>
  async (c: Context<HttpEnv>): Promise<Response> => {
    const { address, tunnel } = callerAddress(c, trustedProxies);
    const waitMs = Math.max(callers.waitMs(address), tunnel === undefined ? 0 : tunnels.waitMs(tunnel));
    if (waitMs > 0) return c.json({ error: 'There were too many wrong calls from your address.' }, 429, { 'retry-after': String(Math.ceil(waitMs / 1000)) });
    const response = await take(c);
    if (response.status === 401) {
      callers.failed(address);
      if (tunnel !== undefined) tunnels.failed(tunnel);
    }
    return response;
  };

/** So long a call waits for an account that is about to receive: while the gateway starts, or takes over from another. */
const patienceMs = 10_000;

const mount = (deps: HttpDeps, guard: Webhook['guard'], base: string) => async (c: Context<HttpEnv>): Promise<Response> => {
  const account = c.req.param('account') ?? '';
  await deps.untilReceiving?.(account, AbortSignal.any([c.req.raw.signal, AbortSignal.timeout(patienceMs)]));
  const webhook = deps.webhook(account);
  // Whoever is told that there is nothing does not try again.
  if (webhook === undefined && deps.expects?.(account) === true) return c.json({ error: 'This account is starting; try again.' }, 503, { 'retry-after': '1' });
  if (webhook === undefined || webhook.guard !== guard) return c.json({ error: 'There is no such account here.' }, 404);
  const written = c.req.path.slice(base.length).split('/')[0] ?? '';
  return forward(c, webhook, `${base}${written}`);
};

/** The API is loaded with the first call: where nobody calls it, it would be 2 MB and a part of every start. */
const openedLate = (deps: ApiDeps): (() => Promise<Hono<HttpEnv>>) => {
  let opened: Promise<Hono<HttpEnv>> | undefined;
  return () => (opened ??= import('./api/app.ts').then(({ apiApp }) => apiApp(deps)));
};

/** The whole HTTP surface. It knows no platform: accounts bring their routes, and a guard says who may call them. */
export const httpApp = (deps: HttpDeps): Hono<HttpEnv> => {
  const { options } = deps;
  const lockedOut = noteLockouts(deps);
  const login: LoginDeps = { logins: deps.logins, limiter: newFailureLimiter({ clock: deps.clock, onLocked: lockedOut('logins') }), trustedProxies: options.trusted_proxies, token: options.token, audit: deps.audit };
  const app = new Hono<HttpEnv>();
  app.use(securityHeaders);

  app.route('/', healthRoutes({ clock: deps.clock, version: deps.version, readiness: deps.readiness, login }));
  app.route('/', metricsRoutes(deps.metrics, login));
  app.use('/webhooks/:account/*', limitBody(maxBytes.webhook));
  app.all('/webhooks/:account/*', limitForgers(newForgerLimits(deps.clock, lockedOut('signatures of webhooks')), options.trusted_proxies, mount(deps, 'own', '/webhooks/')));

  if (deps.api !== undefined) {
    const api = openedLate({ ...deps, ...deps.api, onLocked: lockedOut('keys of the API'), trustedProxies: options.trusted_proxies });
    for (const path of ['/v1/*', '/api/sessions', '/api/sessions/*', '/api/jobs', '/api/jobs/*', '/health/detailed']) app.all(path, async (c) => (await api()).fetch(c.req.raw, c.env));
  }

  app.use(guardBrowser({ bound: options.host, allowedHosts: options.allowed_hosts }));
  app.use('/api/login', limitBody(maxBytes.small));
  app.use('/api/logout', limitBody(maxBytes.small));
  app.route('/api', loginRoutes(login));
  app.use('/api/people/*', requireLogin(login), limitBody(maxBytes.small));
  app.use('/api/people', requireLogin(login));
  app.route('/api/people', peopleRoutes(deps.store, deps.audit));
  app.use('/api/device-checks/*', requireLogin(login), limitBody(maxBytes.small));
  app.use('/api/device-checks', requireLogin(login));
  app.route('/api/device-checks', deviceCheckRoutes(deps.store, deps.platforms ?? [], deps.audit));
  app.use('/api/:account/*', requireLogin(login), limitBody(maxBytes.login));
  app.all('/api/:account/*', mount(deps, 'login', '/api/'));
  app.route('/', pageRoutes(deps.page));

  app.notFound((c) => c.json({ error: 'There is nothing here.' }, 404));
  app.onError((error, c) => {
    const errorId = randomBytes(4).toString('hex');
    deps.log.error({ err: error, errorId, method: c.req.method, path: c.req.path }, 'http.failed');
    return c.json({ error: `Something went wrong (${errorId}).`, errorId }, 500);
  });
  return app;
};

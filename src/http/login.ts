import { Hono } from 'hono';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { z } from 'zod';
import type { AuditedAct } from '../lib/audit-log.ts';
import { clientOf, parseHost } from './client.ts';
import type { HttpEnv } from './client.ts';
import type { FailureLimiter } from './failure-limiter.ts';
import { hashSecret, sameSecret, sessionLifeMs } from './logins.ts';
import type { Logins } from './logins.ts';

export interface LoginDeps {
  readonly logins: Logins;
  readonly limiter: FailureLimiter;
  readonly trustedProxies: readonly string[];
  /** Writes down who has logged in. */
  audit(act: AuditedAct): void;
  /** The owner's token from the configuration. */
  readonly token?: string | undefined;
}

/** Browsers keep one cookie jar for all ports of a host, so the port is part of the name. */
const cookieName = (c: Context): string => `hermes_session_${parseHost(c.req.header('host'))?.port ?? 'default'}`;

const tooMany = (c: Context, waitMs: number): Response => {
  const seconds = Math.ceil(waitMs / 1000);
  c.header('retry-after', String(seconds));
  return c.json({ error: `Too many wrong attempts. Try again in ${Math.ceil(seconds / 60)} min.` }, 429);
};

const loginBody = z.strictObject({ token: z.string().min(1).max(1024) });

const setSession = (c: Context<HttpEnv>, secret: string, options: { readonly secure: boolean; readonly maxAge: number }): void => {
  setCookie(c, cookieName(c), secret, { httpOnly: true, sameSite: 'Strict', path: '/', ...options });
};

const sessionOf = async (c: Context<HttpEnv>, logins: Logins): Promise<string | undefined> => {
  const secret = getCookie(c, cookieName(c));
  return secret !== undefined && (await logins.isSession(secret)) ? secret : undefined;
};

/** `POST /login`, `POST /logout` and `GET /session`. Tokens travel in bodies only, never in an address. */
export const loginRoutes = (deps: LoginDeps): Hono<HttpEnv> => {
  const routes = new Hono<HttpEnv>();
  routes.post('/login', async (c) => {
    const client = clientOf(c, deps.trustedProxies);
    const body = loginBody.safeParse(await c.req.json().catch(() => undefined));
    const waitMs = deps.limiter.waitMs(client.address);
    if (waitMs > 0) return tooMany(c, waitMs);
    // Counted before it is looked at: of many that are tried at once, no more are looked at than one after the other.
    deps.limiter.failed(client.address);
    const secret = body.success ? await deps.logins.redeem(body.data.token) : undefined;
    if (secret === undefined) return c.json({ error: 'This login link is used, too old or wrong.' }, 401);
    deps.limiter.succeeded(client.address);
    deps.audit({ by: 'the owner at the page', act: 'login', subject: `from ${client.address === '' ? 'an unknown address' : client.address}` });
    setSession(c, secret, { secure: client.secure, maxAge: sessionLifeMs / 1000 });
    return c.json({ ok: true });
  });
  routes.post('/logout', async (c) => {
    const secret = await sessionOf(c, deps.logins);
    if (secret !== undefined) await deps.logins.revoke(secret);
    setSession(c, '', { secure: clientOf(c, deps.trustedProxies).secure, maxAge: 0 });
    return c.json({ ok: true });
  });
  routes.get('/session', async (c) => {
    c.header('cache-control', 'no-store');
    return c.json({ loggedIn: (await sessionOf(c, deps.logins)) !== undefined, takesToken: deps.token !== undefined });
  });
  return routes;
};

/** Lets only logged-in browsers through, and cuts what they still have open when their session is revoked. */
export const requireLogin = (deps: LoginDeps): MiddlewareHandler<HttpEnv> => {
  const open = new Map<string, Set<() => void>>();
  deps.logins.onRevoked((sessionHash) => {
    for (const cut of open.get(sessionHash) ?? []) cut();
  });
  return async (c, next) => {
    const secret = await sessionOf(c, deps.logins);
    if (secret === undefined) return c.json({ error: 'Log in first.' }, 401);
    const outgoing = c.env?.outgoing;
    if (outgoing !== undefined) {
      const hash = hashSecret(secret);
      const cuts = open.get(hash) ?? new Set();
      const cut = (): void => void outgoing.destroy();
      open.set(hash, cuts.add(cut));
      outgoing.once('close', () => {
        cuts.delete(cut);
        if (cuts.size === 0) open.delete(hash);
      });
    }
    return next();
  };
};

/** Whether the request may see what is not for everybody: it is local, logged in, or carries the owner's token. */
export const isPrivileged = async (c: Context<HttpEnv>, deps: LoginDeps): Promise<boolean> => {
  const client = clientOf(c, deps.trustedProxies);
  if (client.local || (await sessionOf(c, deps.logins)) !== undefined) return true;
  const bearer = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
  if (bearer === undefined || deps.limiter.waitMs(client.address) > 0) return false;
  const right = deps.token !== undefined && sameSecret(bearer, deps.token);
  if (!right) deps.limiter.failed(client.address);
  return right;
};

/** Like `isPrivileged`, answering everybody else with 401, and with 429 whoever has guessed too often. */
export const requirePrivilege =
  (deps: LoginDeps): MiddlewareHandler<HttpEnv> =>
  async (c, next) => {
    if (await isPrivileged(c, deps)) return next();
    const waitMs = deps.limiter.waitMs(clientOf(c, deps.trustedProxies).address);
    if (waitMs > 0) return tooMany(c, waitMs);
    c.header('www-authenticate', 'Bearer');
    return c.json({ error: 'Send the token of http.token as a bearer.' }, 401);
  };

import type { Context, MiddlewareHandler } from 'hono';
import { isIP } from 'node:net';
import type { HttpEnv } from './client.ts';
import { isLoopbackName, parseHost } from './client.ts';

export interface HostRules {
  /** Address the server listens on. */
  readonly bound: string;
  readonly allowedHosts: readonly string[];
}

/**
 * Whether a browser may reach us under this Host. A foreign name that resolves to us is how another site gets around
 * the browser's origin rules; an address cannot be pointed elsewhere, so a server open to the network takes those.
 */
export const isAllowedHost = (header: string | undefined, rules: HostRules): boolean => {
  const host = parseHost(header);
  if (host === undefined) return false;
  if (isLoopbackName(host.name) || rules.allowedHosts.includes(host.name)) return true;
  return isIP(host.name) !== 0 && !isLoopbackName(rules.bound);
};

/** Compares names and ports only: behind a proxy the scheme of the page is not ours. */
export const isOwnOrigin = (origin: string | undefined, hostHeader: string | undefined): boolean => {
  const host = parseHost(hostHeader);
  const match = /^(https?):\/\/(.+)$/i.exec(origin ?? '');
  const own = parseHost(match?.[2]);
  if (host === undefined || own === undefined) return false;
  const standard = match?.[1]?.toLowerCase() === 'https' ? '443' : '80';
  return own.name === host.name && (own.port ?? standard) === (host.port ?? standard);
};

const isUnsafe = (method: string): boolean => method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';

/** Content types that a form or a script of another site can send without asking first are none of these. */
const bodyTypes = ['application/json', 'application/octet-stream'];

const hasBody = (c: Context): boolean => c.req.header('transfer-encoding') !== undefined || Number(c.req.header('content-length') ?? 0) > 0;

const refusal = (c: Context<HttpEnv>, rules: HostRules): { readonly status: 403 | 415; readonly sentence: string } | undefined => {
  const host = c.req.header('host');
  if (!isAllowedHost(host, rules)) return { status: 403, sentence: 'This name is not allowed. Add it to http.allowed_hosts.' };
  const site = c.req.header('sec-fetch-site');
  const navigates = c.req.method === 'GET' && (site === 'none' || c.req.header('sec-fetch-mode') === 'navigate');
  if (site !== undefined && site !== 'same-origin' && !navigates) return { status: 403, sentence: 'Requests of other sites are refused.' };
  const origin = c.req.header('origin');
  if ((origin !== undefined || isUnsafe(c.req.method)) && !isOwnOrigin(origin, host)) return { status: 403, sentence: 'The Origin header must name this server.' };
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (isUnsafe(c.req.method) && hasBody(c) && !bodyTypes.includes(type ?? '')) return { status: 415, sentence: 'Send application/json or application/octet-stream.' };
  return undefined;
};

/** Refuses what does not come from our own page: foreign names, foreign origins, bodies any site could post. */
export const guardBrowser =
  (rules: HostRules): MiddlewareHandler<HttpEnv> =>
  async (c, next) => {
    const refused = refusal(c, rules);
    if (refused !== undefined) return c.json({ error: refused.sentence }, refused.status);
    return next();
  };

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const headers: Readonly<Record<string, string>> = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
};

/** Sets what every answer carries, unless the route was stricter. */
export const securityHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(headers)) if (!c.res.headers.has(name)) c.res.headers.set(name, value);
};

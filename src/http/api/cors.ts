import type { MiddlewareHandler } from 'hono';
import { ApiError } from './api-error.ts';

const allowed = {
  'access-control-allow-methods': 'GET, POST, PATCH, DELETE, OPTIONS',
  'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, Last-Event-ID, X-Hermes-Session-Id, X-Hermes-Session-Key, X-Hermes-Chat-Id, X-Hermes-User-Id, X-Hermes-Thread-Id',
  'access-control-max-age': '600',
};

/** Pages of other origins may call only when they are on the list. What comes without an origin is no page. */
export const allowOrigin = (origins: readonly string[]): MiddlewareHandler => {
  const known = new Set(origins.map((origin) => origin.toLowerCase()));
  return async (c, next) => {
    const origin = c.req.header('origin');
    if (origin === undefined) return next();
    if (!known.has(origin.toLowerCase())) throw new ApiError(403, 'Pages of this origin may not call the API. Add it to api_server.cors_origins.', { code: 'origin_not_allowed' });
    // Set before the answer begins: a stream has no chance later.
    c.header('access-control-allow-origin', origin);
    c.header('access-control-expose-headers', 'X-Hermes-Session-Id, Retry-After, Idempotency-Replayed');
    c.header('vary', 'Origin');
    if (c.req.method !== 'OPTIONS') return next();
    for (const [name, value] of Object.entries(allowed)) c.header(name, value);
    return c.body(null, 204);
  };
};

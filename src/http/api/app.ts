import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import type { Context } from 'hono';
import type { ApiGate } from '../../gateway/api/api-gate.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Store } from '../../store/store.ts';
import type { HttpEnv } from '../client.ts';
import { newFailureLimiter } from '../failure-limiter.ts';
import type { Readiness } from '../health.ts';
import { ApiError, refuse } from './api-error.ts';
import { Callers } from './callers.ts';
import { capabilitiesRoute } from './capabilities.ts';
import { chatRoute } from './chat/route.ts';
import { allowOrigin } from './cors.ts';
import { healthRoute } from './health.ts';
import { jobRoutes } from './jobs/routes.ts';
import { modelRoutes } from './models.ts';
import { openApiRoute } from './openapi/document.ts';
import type { ApiOptions } from './options.ts';
import { Replays } from './replays.ts';
import { responseRoutes } from './responses/routes.ts';
import { responseSocketRoute } from './responses/socket.ts';
import type { ApiRoute } from './route.ts';
import { runRoutes } from './runs/routes.ts';
import { sessionRoutes } from './sessions/routes.ts';
import { newWork } from './work.ts';

export interface ApiDeps {
  readonly options: ApiOptions;
  readonly trustedProxies: readonly string[];
  readonly version: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly readiness: () => Readiness | Promise<Readiness>;
  /** Undefined while the gateway starts or stops. */
  readonly gate: () => ApiGate | undefined;
  /** Told of an address that has sent too many wrong keys. */
  readonly onLocked?: (address: string) => void;
}

const features = { chat_completions: true, chat_completions_streaming: true, responses_api: true, responses_streaming: true, responses_background: true, responses_websocket: true, run_submission: true, run_status: true, run_events_sse: true, run_stop: true, run_approval_response: true, run_steer: true, approval_events: true, sessions: true, session_chat_streaming: true, jobs: true, openapi: true, session_continuity_header: true, session_key_header: true, client_tools: true, image_input: true, idempotency_key: true, tool_progress_events: true, cors: true };

const requireGate = (gate: ApiGate | undefined): ApiGate => {
  if (gate === undefined || gate.isClosing) throw new ApiError(503, 'The gateway is starting or stopping.', { code: 'unavailable', retryAfterMs: 1000 });
  return gate;
};

/** A fault of ours: the client and the log see the same id. */
const unexpected = (log: Logger, error: unknown, at: { readonly method?: string; readonly path: string }): ApiError => {
  const errorId = randomBytes(4).toString('hex');
  log.error({ err: error, errorId, ...at }, 'api.failed');
  return new ApiError(500, `Something went wrong (${errorId}).`, { code: 'internal_error' });
};

const onError = (log: Logger) => (error: Error, c: Context) => refuse(c, error instanceof ApiError ? error : unexpected(log, error, { method: c.req.method, path: c.req.path }));

/** The calls that there are, in one table. */
const routesOf = (deps: ApiDeps, callers: Callers): readonly ApiRoute[] => {
  const gate = (): ApiGate => requireGate(deps.gate());
  const work = newWork({ callers, store: deps.store, clock: deps.clock, log: deps.log, options: deps.options });
  const replays = new Replays(deps.store);
  const routes: ApiRoute[] = [...modelRoutes({ startedMs: deps.clock.now(), gate }), chatRoute({ ...deps, gate, work, replays }), ...responseRoutes({ ...deps, gate, work, replays }), responseSocketRoute({ ...deps, gate, work, replays, identify: (c) => callers.identify(c), unexpected: (error) => unexpected(deps.log, error, { path: '/v1/responses' }) }), ...runRoutes({ ...deps, gate, work, replays }), ...sessionRoutes({ ...deps, gate, work, replays }), ...jobRoutes({ gate }), healthRoute({ ...deps, gate })];
  const all: readonly ApiRoute[] = [...routes, capabilitiesRoute(() => all, features), openApiRoute(() => all, deps.version)];
  return all;
};

/** The OpenAI-compatible API: its own guard by key, its own form of errors, for every path below it. */
export const apiApp = (deps: ApiDeps): Hono<HttpEnv> => {
  const callers = new Callers({ store: deps.store, clock: deps.clock, limiter: newFailureLimiter({ clock: deps.clock, ...(deps.onLocked !== undefined && { onLocked: deps.onLocked }) }), trustedProxies: deps.trustedProxies, key: deps.options.key });
  const routes = routesOf(deps, callers);
  const app = new Hono<HttpEnv>();
  app.use(allowOrigin(deps.options.cors_origins));
  for (const route of routes) {
    app.on(route.method, route.path, async (c) => {
      const caller = await callers.identify(c);
      if (!caller.scopes.includes(route.scope)) throw new ApiError(403, `This key has no scope "${route.scope}".`, { code: 'insufficient_scope' });
      c.header('cache-control', 'no-store');
      return route.handle(c, caller);
    });
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    const allow = routes.filter((route) => route.path === path).map((route) => route.method).join(', ');
    app.all(path, async (c) => {
      await callers.identify(c);
      throw new ApiError(405, `${c.req.method} is not possible here; ${allow} is.`, { code: 'method_not_allowed', headers: { allow } });
    });
  }
  app.all('*', async (c) => {
    await callers.identify(c);
    throw new ApiError(404, `There is no ${c.req.method} ${c.req.path.slice(0, 200)}.`, { code: 'unknown_url' });
  });
  app.onError(onError(deps.log));
  return app;
};

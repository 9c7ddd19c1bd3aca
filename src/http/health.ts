import { Hono } from 'hono';
import type { Clock } from '../lib/clock.ts';
import type { AccountReport } from './account-report.ts';
import type { HttpEnv } from './client.ts';
import { isPrivileged } from './login.ts';
import type { LoginDeps } from './login.ts';

export interface Readiness {
  readonly ready: boolean;
  readonly accounts: readonly AccountReport[];
}

export interface HealthDeps {
  readonly clock: Clock;
  readonly version: string;
  readonly readiness: () => Readiness | Promise<Readiness>;
  readonly login: LoginDeps;
}

/** `/health`: this process answers. `/ready`: accounts carry traffic; which ones and why is for the owner only. */
export const healthRoutes = (deps: HealthDeps): Hono<HttpEnv> => {
  const startedMs = deps.clock.now();
  const routes = new Hono<HttpEnv>();
  routes.get('/health', (c) => {
    c.header('cache-control', 'no-store');
    return c.json({ status: 'ok', uptime_s: Math.floor((deps.clock.now() - startedMs) / 1000), version: deps.version });
  });
  routes.get('/ready', async (c) => {
    c.header('cache-control', 'no-store');
    const { ready, accounts } = await deps.readiness();
    return c.json({ ready, ...((await isPrivileged(c, deps.login)) && { pid: process.pid, accounts }) }, ready ? 200 : 503);
  });
  return routes;
};

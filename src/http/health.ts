import { Hono } from 'hono';
import type { Clock } from '../lib/clock.ts';
import type { HttpEnv } from './client.ts';
import { isPrivileged } from './login.ts';
import type { LoginDeps } from './login.ts';

/** An account as its traffic shows it, not as its settings promise. */
export interface AccountReadiness {
  readonly account: string;
  readonly state: string;
  readonly detail?: string;
  /** What kind of trouble it has. */
  readonly code?: string;
  /** When the platform last answered or delivered; null when it never has. */
  readonly lastEvidenceMs: number | null;
  /** The whole is ready without it. */
  readonly isOptional?: boolean;
}

export interface Readiness {
  readonly ready: boolean;
  readonly accounts: readonly AccountReadiness[];
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
    const shown = (await isPrivileged(c, deps.login)) ? accounts.map(shownAccount) : undefined;
    return c.json({ ready, ...(shown !== undefined && { accounts: shown }) }, ready ? 200 : 503);
  });
  return routes;
};

/** As it is written for readers. */
export const evidenceTime = ({ lastEvidenceMs }: AccountReadiness): string | null => (lastEvidenceMs === null ? null : new Date(lastEvidenceMs).toISOString());

const shownAccount = (account: AccountReadiness): Readonly<Record<string, unknown>> => ({
  account: account.account,
  state: account.state,
  ...(account.detail !== undefined && { detail: account.detail }),
  ...(account.code !== undefined && { code: account.code }),
  ...(account.isOptional === true && { required: false }),
  last_evidence: evidenceTime(account),
});

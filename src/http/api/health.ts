import type { ApiGate } from '../../gateway/api/api-gate.ts';
import type { Readiness } from '../health.ts';
import type { ApiRoute } from './route.ts';

export interface ApiHealthDeps {
  readonly version: string;
  readonly readiness: () => Readiness | Promise<Readiness>;
  gate(): ApiGate;
}

/** What runs and how it is, for whoever watches. Trouble is said, not answered with an error. */
export const healthRoute = (deps: ApiHealthDeps): ApiRoute => ({
  name: 'health_detailed',
  method: 'GET',
  path: '/health/detailed',
  scope: 'admin',
  async handle(c) {
    const { ready, accounts } = await deps.readiness();
    const platforms = accounts.map((account) => [account.account, { state: account.state, ...(account.detail !== undefined && { detail: account.detail }), last_evidence: account.last_evidence }]);
    return c.json({ status: ready ? 'ok' : 'degraded', platform: 'hermes', version: deps.version, pid: process.pid, agents: deps.gate().agents(), running_turns: deps.gate().running, platforms: Object.fromEntries(platforms) });
  },
});

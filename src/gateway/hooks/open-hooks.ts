import { bootMd } from '../../hooks/builtin/boot-md.ts';
import { Hooks } from '../../hooks/hooks.ts';
import type { LoadDeps } from '../../hooks/load-hooks.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { Redactor } from '../../lib/redact.ts';
import type { GatewaySettings } from '../settings.ts';
import { beginAlone } from './begin-alone.ts';
import type { BeginAloneDeps } from './begin-alone.ts';
import { agentHomes, hookFolders } from './hook-folders.ts';

export interface OpenHooksDeps extends BeginAloneDeps, Pick<LoadDeps, 'log' | 'childEnvironment'> {
  readonly home: string;
  readonly metrics: Metrics;
  readonly redactor: Redactor;
  settings(): GatewaySettings;
}

/** The hooks of a gateway, not started yet. */
export const openHooks = (deps: OpenHooksDeps): Hooks => {
  const { home, metrics, settings } = deps;
  const runs = metrics.counter({ name: 'hermes_hook_runs_total', help: 'Calls of hooks by their outcome', labels: ['hook', 'outcome'] });
  return new Hooks({
    clock: deps.clock,
    log: deps.log,
    childEnvironment: () => deps.childEnvironment(),
    redact: (text) => deps.redactor.redact(text),
    fetch,
    folders: () => hookFolders(home, settings()),
    webhooks: () => settings().webhooks_out,
    builtins: [bootMd({ agents: () => agentHomes(home, settings()), begin: (agent, text) => beginAlone(deps, agent, text) })],
    onRun: ({ hook, outcome }) => runs.at(hook, outcome).inc(),
  });
};

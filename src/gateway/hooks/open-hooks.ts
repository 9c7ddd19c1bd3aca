import { bootMd } from '../../hooks/builtin/boot-md.ts';
import { Hooks } from '../../hooks/hooks.ts';
import type { LoadDeps } from '../../hooks/load-hooks.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { GatewaySettings } from '../settings.ts';
import { agentHomes, hookFolders } from './hook-folders.ts';

export interface OpenHooksDeps extends Pick<LoadDeps, 'clock' | 'log' | 'childEnvironment' | 'redact'> {
  readonly home: string;
  readonly metrics: Metrics;
  settings(): GatewaySettings;
  /** Has an agent work on a text by itself. */
  beginAlone(agent: string, text: string): Promise<void>;
}

/** The hooks of a gateway, not started yet. */
export const openHooks = ({ home, metrics, settings, beginAlone, clock, log, childEnvironment, redact }: OpenHooksDeps): Hooks => {
  const runs = metrics.counter({ name: 'hermes_hook_runs_total', help: 'Calls of hooks by their outcome', labels: ['hook', 'outcome'] });
  return new Hooks({
    clock,
    log,
    childEnvironment,
    redact,
    fetch,
    folders: () => hookFolders(home, settings()),
    webhooks: () => settings().webhooks_out,
    builtins: [bootMd({ agents: () => agentHomes(home, settings()), begin: beginAlone })],
    onRun: ({ hook, outcome }) => runs.at(hook, outcome).inc(),
  });
};

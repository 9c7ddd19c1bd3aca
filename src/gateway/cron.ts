import type { CronDeps } from '../cron/deps.ts';
import type { JobRules } from '../cron/job-request.ts';
import { CronRunner } from '../cron/runner.ts';
import { isAgent } from '../routing/select-agent.ts';
import type { Agents } from './agents/agents.ts';
import type { GatewaySettings } from './settings.ts';

export interface CronOfGateway extends Omit<CronDeps, 'agent' | 'options'> {
  readonly findFolder: JobRules['findFolder'];
  readonly agents: Pick<Agents, 'get' | 'peek'>;
  settings(): GatewaySettings;
}

/** What a job may be in this gateway. The skills of an agent that nobody has spoken to yet are not known. */
export const cronRules = ({ targets, agents, settings, findFolder }: Pick<CronOfGateway, 'targets' | 'agents' | 'settings' | 'findFolder'>): JobRules => ({
  targets,
  options: () => settings().cron,
  isAgent: (id) => isAgent(settings(), id),
  findFolder,
  hasSkill(agent, name) {
    const runtime = agents.peek(agent);
    return runtime === undefined || runtime.skills.find(name) !== undefined;
  },
});

/** Runs the jobs of every agent, each with what belongs to that agent. */
export const newCronRunner = (deps: CronOfGateway): CronRunner =>
  new CronRunner({
    ...deps,
    options: () => deps.settings().cron,
    async agent(id) {
      if (!isAgent(deps.settings(), id)) return undefined;
      const runtime = await deps.agents.get(id);
      return { home: runtime.agentHome, findSkill: (name) => runtime.skills.find(name), redact: (text) => runtime.redact(text), findFolder: (path) => deps.findFolder(id, path) };
    },
  });

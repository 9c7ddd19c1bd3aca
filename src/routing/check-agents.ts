import type { SectionFindings } from '../config/section.ts';
import { sharedHomes } from './agent-home.ts';
import type { Routing } from './options.ts';
import { agentIds, isAgent } from './select-agent.ts';

interface ToolChoice {
  readonly toolsets?: readonly string[] | undefined;
  readonly disabled_toolsets: readonly string[];
}

/** What of all settings concerns agents as a whole. */
export interface CheckedSections extends Routing {
  readonly tools: ToolChoice & { readonly agents: Readonly<Record<string, ToolChoice>> };
  readonly terminal: { readonly backend: string };
}

/** Whether an agent may run commands somewhere. */
const hasTerminal = ({ agents, tools }: CheckedSections, id: string): boolean => {
  const own = agents[id];
  const enabled = [tools.toolsets, tools.agents[id]?.toolsets, own?.enabled_toolsets];
  const disabled = [...tools.disabled_toolsets, ...(tools.agents[id]?.disabled_toolsets ?? []), ...(own?.disabled_toolsets ?? [])];
  return own?.kind !== 'acp' && !disabled.includes('terminal') && enabled.every((names) => names === undefined || names.some((name) => name === 'terminal' || name === 'all' || name.startsWith('hermes-')));
};

/** Commands on the machine itself can be kept from a folder by rules only. */
const openTerminals = (all: CheckedSections): readonly string[] => {
  const able = all.terminal.backend === 'local' && agentIds(all).length > 1 ? agentIds(all).filter((id) => hasTerminal(all, id)) : [];
  if (able.length === 0) return [];
  return [`commands of ${able.join(', ')} run as the user of the gateway (terminal.backend is local): rules keep them from the folders of other agents, the system does not. Set terminal.backend to bubblewrap or docker, or disable the toolset terminal`];
};

/** What is wrong with the agents as a whole. With an error nothing may start: one could read what belongs to another. */
export const checkAgents = (all: CheckedSections, home: string | undefined): SectionFindings => ({
  errors: home === undefined ? [] : sharedHomes(all, home),
  warnings: [...Object.keys(all.tools.agents).filter((id) => !isAgent(all, id)).map((id) => `tools.agents.${id} is about an agent that does not exist`), ...openTerminals(all)],
});

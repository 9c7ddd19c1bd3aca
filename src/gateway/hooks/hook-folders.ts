import { join } from 'node:path';
import type { HookFolder } from '../../hooks/discover.ts';
import { homeOfAgent } from '../../routing/agent-home.ts';
import type { Routing } from '../../routing/options.ts';
import { agentIds } from '../../routing/select-agent.ts';

/** Where each agent has its own. */
export const agentHomes = (home: string, routing: Pick<Routing, 'agents'>): readonly { readonly id: string; readonly home: string }[] => agentIds(routing).map((id) => ({ id, home: homeOfAgent(home, id, routing.agents[id]) }));

/** The gateway's own hooks, which see everything, and those of the agents that have a folder of their own. */
export const hookFolders = (home: string, routing: Pick<Routing, 'agents'>): readonly HookFolder[] => [
  { path: join(home, 'hooks') },
  ...agentHomes(home, routing).filter((agent) => agent.home !== home).map((agent) => ({ path: join(agent.home, 'hooks'), agent: agent.id })),
];

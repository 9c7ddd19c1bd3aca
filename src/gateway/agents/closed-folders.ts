import { join } from 'node:path';
import type { OtherAgents } from '../../agent/approvals/rule.ts';
import { resultsFolder } from '../../agent/tools/spill-result.ts';
import { homeOfAgent, liesIn } from '../../routing/agent-home.ts';
import { agentIds } from '../../routing/select-agent.ts';
import { sessionMedia } from '../../sessions/attachments.ts';
import type { GatewaySettings } from '../settings.ts';

export interface AgentPlace {
  readonly id: string;
  /** The gateway's, and the agent's own. */
  readonly home: string;
  readonly agentHome: string;
  readonly mediaFolder: string;
  settings(): GatewaySettings;
}

/** What all agents have in one place below the gateway's home. */
const common: readonly string[] = ['profiles', 'gateway.db', 'gateway.db-wal', 'gateway.db-shm', 'state.db', 'media', 'processes', 'cache/results', 'backups'];

/** Homes of the other agents, as they stand now; none in which the agent itself lives. */
export const homesOfOthers = ({ id, home, agentHome, settings }: Omit<AgentPlace, 'mediaFolder'>): readonly string[] => {
  const { agents } = settings();
  return agentIds({ agents })
    .filter((other) => other !== id)
    .map((other) => homeOfAgent(home, other, agents[other]))
    .filter((other) => !liesIn(other, agentHome));
};

/** Folders of one conversation: what its people have sent. */
export const foldersOfSession = ({ mediaFolder }: AgentPlace, sessionId: string): readonly string[] => [join(mediaFolder, sessionMedia(sessionId))];

/** What commands in a conversation must not name; undefined where there is only one agent. */
export const closedToCommands = (place: AgentPlace, sessionId: string): OtherAgents | undefined => {
  const { home, agentHome, settings } = place;
  if (agentIds(settings()).length < 2) return undefined;
  const own = [resultsFolder(home, sessionId), ...foldersOfSession(place, sessionId)];
  const others = homesOfOthers(place);
  return agentHome === home ? { folders: [...common.map((name) => join(home, name)), ...others], open: own } : { folders: [home, ...others], open: [agentHome, ...own] };
};

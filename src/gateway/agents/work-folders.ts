import { join, resolve } from 'node:path';
import { acpOptionsOf } from '../../agent/acp/options.ts';
import type { AcpOptions } from '../../agent/acp/options.ts';
import { mainAgent } from '../../routing/select-agent.ts';
import type { GatewaySettings } from '../settings.ts';

export interface WorkPlace {
  readonly agentHome: string;
  /** What `~` stands for. */
  readonly userHome: string;
  settings(): GatewaySettings;
}

export const withUserHome = (path: string, userHome: string): string => (path === '~' || path.startsWith('~/') ? join(userHome, path.slice(1)) : path);

/** Where an agent works when nobody says otherwise. */
export const workspaceOf = ({ agentHome, userHome, settings }: WorkPlace): string => {
  const { cwd } = settings().terminal;
  return cwd === undefined ? join(agentHome, 'workspace') : withUserHome(cwd, userHome);
};

/** The other program that answers as an agent; undefined when the agent is one of ours. */
export const programOf = ({ agent, agents }: GatewaySettings, id: string): AcpOptions | undefined => {
  // What `agents.main` says about other things leaves the main agent what it is.
  const own = id === mainAgent && agents[id]?.kind !== 'acp' ? agent : agents[id];
  return own === undefined ? undefined : acpOptionsOf(own);
};

/** Where the settings let that program work; undefined when they do not say. */
export const folderOfProgram = ({ agentHome, userHome, settings }: WorkPlace, id: string): string | undefined => {
  const cwd = programOf(settings(), id)?.cwd;
  return cwd === undefined ? undefined : resolve(agentHome, withUserHome(cwd, userHome));
};

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { AgentOptions, Routing } from './options.ts';
import { agentIds, mainAgent } from './select-agent.ts';

/** Where an agent keeps what is its own: its words about itself, memory, skills and secrets. */
export const homeOfAgent = (home: string, id: string, options: Pick<AgentOptions, 'home_dir'> | undefined): string => {
  const own = options?.home_dir;
  if (own === undefined) return id === mainAgent ? home : join(home, 'profiles', id);
  return own === '~' || own.startsWith('~/') ? join(homedir(), own.slice(1)) : resolve(home, own);
};

/** The folder without which an agent's own is not made: beyond the home a disk may not be mounted, and an empty folder in its place would be an agent without memory. */
export const missingGround = (home: string, agentHome: string): string | undefined => {
  const ground = dirname(agentHome);
  return liesIn(home, agentHome) || existsSync(ground) ? undefined : ground;
};

/** Whether a path is a folder or lies in it. Both absolute; no link is followed. */
export const liesIn = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
};

/** Agents whose folders are not apart from each other: one would read the other's secrets. The gateway's own folder may hold the others, for its agent is kept out of them. */
export const sharedHomes = ({ agents }: Pick<Routing, 'agents'>, home: string): readonly string[] => {
  const homes = agentIds({ agents }).map((id) => ({ id, path: homeOfAgent(home, id, agents[id]) }));
  return homes.flatMap(({ id, path }, i) => {
    const other = homes.find((each, at) => at !== i && (path === each.path ? at < i : path !== home && each.path !== home && liesIn(each.path, path)));
    if (other !== undefined) return [`agents.${id}.home_dir lies in the folder of the agent ${other.id}; each needs one of its own`];
    return path !== home && liesIn(path, home) ? [`agents.${id}.home_dir holds the whole gateway; choose another folder`] : [];
  });
};

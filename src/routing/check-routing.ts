import type { SectionFindings } from '../config/section.ts';
import type { RouteMatch, Routing } from './options.ts';
import { isAgent, mainAgent, namedKeys } from './select-agent.ts';

/** Whether every event that fits `later` fits `earlier` already. */
const covers = (earlier: RouteMatch, later: RouteMatch): boolean => {
  const keys = namedKeys(earlier);
  return keys.length > 0 && keys.every((key) => earlier[key] === later[key]);
};

/** What is wrong with the routes as a whole. With an error nothing may start: a message could reach the wrong agent. */
export const checkRouting = (routing: Routing): SectionFindings => {
  const known = [mainAgent, ...Object.keys(routing.agents)].join(', ');
  const errors = routing.routes.flatMap(({ agent }, i) => (isAgent(routing, agent) ? [] : [`routes[${i}] names the agent ${agent}, which does not exist; there are: ${known}`]));
  if (!isAgent(routing, routing.default_agent)) errors.push(`default_agent names ${routing.default_agent}, which does not exist; there are: ${known}`);
  const warnings = routing.routes.flatMap(({ match }, i) => {
    if (namedKeys(match).length === 0) return [`routes[${i}] has an empty match and never fits; use default_agent for everything else`];
    const by = routing.routes.slice(0, i).findIndex((earlier) => covers(earlier.match, match));
    return by === -1 ? [] : [`routes[${i}] never decides: whatever fits it fits routes[${by}] first`];
  });
  return { errors, warnings };
};

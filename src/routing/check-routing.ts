import type { SectionFindings } from '../config/section.ts';
import { platformOf } from '../core/ids.ts';
import type { RouteMatch, Routing } from './options.ts';
import { agentIds, isAgent, namedKeys } from './select-agent.ts';

/** An account belongs to a platform, so that whoever names the one has said the other. */
const withPlatform = (match: RouteMatch): RouteMatch => (match.account === undefined || match.platform !== undefined ? match : { ...match, platform: platformOf(match.account) });

/** Whether every event that fits `later` fits `earlier` already. */
const covers = (earlier: RouteMatch, later: RouteMatch): boolean => {
  const keys = namedKeys(earlier);
  return keys.length > 0 && keys.every((key) => earlier[key] === withPlatform(later)[key]);
};

const contradicts = ({ account, platform }: RouteMatch): boolean => account !== undefined && platform !== undefined && platformOf(account) !== platform;

/** What is wrong with the routes as a whole. With an error nothing may start: a message could reach the wrong agent. */
export const checkRouting = (routing: Routing): SectionFindings => {
  const known = agentIds(routing).join(', ');
  const errors = routing.routes.flatMap(({ agent }, i) => (isAgent(routing, agent) ? [] : [`routes[${i}] names the agent ${agent}, which does not exist; there are: ${known}`]));
  if (!isAgent(routing, routing.default_agent)) errors.push(`default_agent names ${routing.default_agent}, which does not exist; there are: ${known}`);
  const warnings = routing.routes.flatMap(({ match }, i) => {
    if (namedKeys(match).length === 0) return [`routes[${i}] has an empty match and never fits; use default_agent for everything else`];
    if (contradicts(match)) return [`routes[${i}] never fits: the account ${match.account} is none of the platform ${match.platform}`];
    const by = routing.routes.slice(0, i).findIndex((earlier) => covers(earlier.match, match));
    return by === -1 ? [] : [`routes[${i}] never decides: whatever fits it fits routes[${by}] first`];
  });
  return { errors, warnings };
};

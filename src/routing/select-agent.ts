import { platformOf } from '../core/ids.ts';
import type { InboundEvent } from '../core/message.ts';
import type { Route, RouteMatch, Routing } from './options.ts';

/** The agent that is always there. */
export const mainAgent = 'main';

type Facts = { readonly [Key in keyof RouteMatch]-?: string | undefined };

const factsOf = ({ account, chat, sender }: Pick<InboundEvent, 'account' | 'chat' | 'sender'>): Facts => ({
  platform: platformOf(account),
  account,
  chat_id: chat.id,
  thread_id: chat.threadId,
  user_id: sender.id,
  user_id_alt: sender.altId,
  chat_type: chat.type,
  guild_id: chat.scopeId,
  parent_chat_id: chat.parentId,
});

/** What a match says anything about. */
export const namedKeys = (match: RouteMatch): (keyof RouteMatch)[] => (Object.keys(match) as (keyof RouteMatch)[]).filter((key) => match[key] !== undefined);

/** A match that names nothing fits nothing: whoever wants a catch-all has `default_agent`. */
const fits = (match: RouteMatch, facts: Facts): boolean => {
  const keys = namedKeys(match);
  return keys.length > 0 && keys.every((key) => match[key] === facts[key]);
};

/** The first route in the order of the configuration that fits an event. */
export const matchingRoute = (routes: readonly Route[], event: Pick<InboundEvent, 'account' | 'chat' | 'sender'>): { readonly route: Route; readonly index: number } | undefined => {
  if (routes.length === 0) return undefined;
  const facts = factsOf(event);
  const index = routes.findIndex((route) => fits(route.match, facts));
  const route = routes[index];
  return route === undefined ? undefined : { route, index };
};

/** Every agent that there is. */
export const agentIds = ({ agents }: Pick<Routing, 'agents'>): readonly string[] => [...new Set([mainAgent, ...Object.keys(agents)])];

export const isAgent = (routing: Pick<Routing, 'agents'>, id: string): boolean => id === mainAgent || Object.hasOwn(routing.agents, id);

/** The agent that answers an event, and why. */
export interface ChosenAgent {
  readonly id: string;
  readonly why: string;
}

/** A route as people find it in the file: its number there, counted from zero, and what it asks for. */
export const routeWords = ({ route: { match }, index }: { readonly route: Route; readonly index: number }): string =>
  `routes[${index}] (${namedKeys(match).map((key) => `${key} ${match[key]}`).join(', ')})`;

/** Who answers by the configuration alone. */
export const routedAgent = (routing: Routing, event: Pick<InboundEvent, 'account' | 'chat' | 'sender' | 'arranged'>): ChosenAgent => {
  if (event.arranged?.agent !== undefined) return { id: event.arranged.agent, why: 'by arrangement' };
  const routed = matchingRoute(routing.routes, event);
  return routed === undefined ? { id: routing.default_agent, why: 'by default' } : { id: routed.route.agent, why: `by ${routeWords(routed)}` };
};

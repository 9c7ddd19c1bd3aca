import type { InboundEvent } from '../../core/message.ts';
import type { HookDecision } from '../../hooks/consult.ts';
import type { Hooks } from '../../hooks/hooks.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Routing } from '../../routing/options.ts';
import { isAgent, matchingRoute, routedAgent } from '../../routing/select-agent.ts';
import type { ChosenAgent } from '../../routing/select-agent.ts';
import { selectAgentContext } from './contexts.ts';

export interface ChoosingDeps {
  readonly hooks: Pick<Hooks, 'selectAgent'>;
  readonly log: Logger;
  settings(): Routing;
}

/** What the routes say, unless a hook says otherwise. A hook may overrule a route, but only for an agent that exists. Only for events that are authorized. */
export const chooseAgent = async (deps: ChoosingDeps, event: Pick<InboundEvent, 'account' | 'chat' | 'sender' | 'text' | 'arranged'>): Promise<{ readonly agent: ChosenAgent; readonly decisions: readonly HookDecision[] }> => {
  const settings = deps.settings();
  const routed = routedAgent(settings, event);
  const byRoute = matchingRoute(settings.routes, event) !== undefined;
  const { state, by, decisions } = await deps.hooks.selectAgent(selectAgentContext(event, { agent: routed.id, byRoute }));
  if (state.agent === undefined) return { agent: routed, decisions };
  if (isAgent(settings, state.agent)) return { agent: { id: state.agent, why: `by the hook ${by ?? ''}` }, decisions };
  deps.log.warn({ agent: state.agent, hook: by, account: event.account }, 'routing.unknown_agent');
  return { agent: routed, decisions: [...decisions, { step: 'agent', verdict: `there is no agent ${state.agent.slice(0, 100)}` }] };
};

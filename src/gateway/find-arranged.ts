import type { InboundEvent, Target } from '../core/message.ts';
import { resolveTarget } from '../delivery/resolve-target.ts';
import { isAgent } from '../routing/select-agent.ts';
import type { InboxDeps } from './arrival.ts';

/**
 * The event with the places that its answer goes to, by value. Throws when they, or the agent that was arranged, do not exist: whoever has sent it is
 * told to try again, and the owner to mend the arrangement.
 */
export const findArranged = async (deps: Pick<InboxDeps, 'store' | 'settings' | 'targets'>, event: InboundEvent): Promise<InboundEvent> => {
  if (event.arranged === undefined) return event;
  const { agent, deliver, verbatim } = event.arranged;
  if (agent !== undefined && !isAgent(deps.settings(), agent)) throw new Error(`${event.account} was arranged to be answered by ${agent}, which is no agent here`);
  if (deliver === undefined) {
    if (verbatim === true) throw new Error(`${event.account} was arranged to be passed on, but not where to`);
    return event;
  }
  const { destinations, problems } = await deps.store.read((db) => resolveTarget(db, deps.targets, { text: deliver }));
  if (problems.length > 0) throw new Error(`${event.account} was arranged to be delivered to ${JSON.stringify(deliver)}: ${problems.join('; ')}`);
  const answerTo = destinations.flatMap((destination): Target[] => (destination.type === 'chat' ? [destination.target] : []));
  return { ...event, answerTo };
};

import type { InboundEvent, Target } from '../core/message.ts';
import { resolveTarget } from '../delivery/resolve-target.ts';
import { isAgent } from '../routing/select-agent.ts';
import type { Arrival, InboxDeps } from './arrival.ts';

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

/** The instructions that were arranged stand before the words of the event. */
export const withSkills = async (deps: Pick<InboxDeps, 'findSkill'>, arrival: Arrival): Promise<Arrival> => {
  const { event, agent } = arrival;
  const blocks: string[] = [];
  for (const name of event.arranged?.skills ?? []) {
    const skill = await deps.findSkill?.(agent.id, name);
    blocks.push(skill === undefined ? `[The skill ${name} does not exist (any more).]` : `[skill ${skill.name}, in ${skill.folder}]\n${skill.body}\n[end of skill ${skill.name}]`);
  }
  return blocks.length === 0 ? arrival : { ...arrival, event: { ...event, text: [...blocks, event.text].join('\n\n') } };
};

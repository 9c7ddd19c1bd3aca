import type { Agent, TurnInput, TurnPlace } from '../../contract.ts';
import type { ToolSet } from '../contract.ts';
import { toolSet } from '../tool-set.ts';
import type { ToolGroup } from '../toolsets.ts';
import type { ChildRequest, ChildRunner } from './contract.ts';

const ownHelpers = 'delegation';

/** Toolsets that helpers never have: they ask nobody, write to nobody, remember nothing and plan nothing for later. */
const withheld: ReadonlySet<string> = new Set(['clarify', 'memory', 'messaging', 'cronjob']);

/** What of the agent's toolsets a helper may have. */
export const childToolsets = (groups: readonly ToolGroup[], role: ChildRequest['role']): readonly ToolGroup[] =>
  groups.filter(({ toolset }) => !withheld.has(toolset) && (toolset !== ownHelpers || role === 'orchestrator'));

/** The same, narrowed down to what was asked for; an orchestrator keeps its own helpers. `mcp` stands for every server. */
const chosenToolsets = (groups: readonly ToolGroup[], request: Pick<ChildRequest, 'role' | 'toolsets'>): readonly ToolGroup[] => {
  const { role, toolsets } = request;
  const possible = childToolsets(groups, role);
  if (toolsets === undefined) return possible;
  return possible.filter(({ toolset }) => toolsets.includes(toolset) || toolset === ownHelpers || (toolset.startsWith('mcp-') && toolsets.includes('mcp')));
};

const childPrompt = ({ role }: ChildRequest): string =>
  [
    'You are a helper that was given one piece of work by another agent. Nobody else reads along: there is no person to ask, and what you cannot find out you decide by yourself.',
    'Do the work completely with the tools you have, then answer with a summary: what you did, what you found, which files you made or changed (absolute paths), and what went wrong or is left to do. The summary is all that the other agent will see of your work, so put into it everything that it needs.',
    ...(role === 'orchestrator' ? ['You may hand parts that do not depend on each other to helpers of your own with delegate_task.'] : []),
    'Do not claim to have done what you have not done or could not check.',
  ].join('\n\n');

const firstMessage = ({ goal, context }: ChildRequest): string => (context === undefined || context.trim() === '' ? goal : `${goal}\n\nContext:\n${context}`);

export interface ChildParts {
  /** What the agent has at a place. */
  groups(place: TurnPlace): readonly ToolGroup[];
  /** The agent's model with these tools. Every step of it runs in the session of the turn. */
  agent(tools: ToolSet): Agent;
}

/** Helpers in this process, on the agent's own model: a fresh conversation with nothing but the task, in which nobody can be asked. */
export const newChildRunner =
  (parts: ChildParts): ChildRunner =>
  (request, signal) => {
    const { id, parent, limits, model } = request;
    const tools = toolSet(chosenToolsets(parts.groups(parent.place), request).flatMap((group) => group.tools));
    const input: TurnInput = {
      sessionId: id,
      turnId: id,
      system: childPrompt(request),
      transcript: [{ role: 'user', content: firstMessage(request) }],
      steering: () => [],
      asyncDelivery: false,
      limits,
      place: parent.place,
      ask: async () => ({ type: 'unattended' }),
      ...(model !== undefined && { model }),
    };
    return parts.agent(tools).run(input, signal);
  };

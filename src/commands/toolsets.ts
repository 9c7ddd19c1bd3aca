import { toolsets as known } from '../agent/tools/toolsets.ts';
import type { Command } from './contract.ts';
import type { ToolsReach } from './reach.ts';

const line = (toolset: string, { all, selected }: ToolsReach): string => {
  const count = all.find((group) => group.toolset === toolset)?.tools.length ?? 0;
  const sign = selected.some((group) => group.toolset === toolset) ? '✅' : '▫️';
  const what = known[toolset]?.description ?? 'Tools of an MCP server';
  return `${sign} **${toolset}** ${what} (${count} ${count === 1 ? 'tool' : 'tools'})`;
};

export const toolsets: Command = {
  name: 'toolsets',
  aliases: [],
  category: 'Tools',
  description: 'Show the groups of tools, and which of them I have here',
  whileRunning: 'allowed',
  run(_tx, call) {
    const reach = call.reach.tools?.({ account: call.event.account, agent: call.agent });
    if (reach === undefined) return Promise.resolve('The tools of this agent are its own; I cannot list them.');
    const lines = reach.all.map(({ toolset }) => line(toolset, reach));
    return Promise.resolve([...lines, '', 'The owner chooses with `tools.toolsets` and `tools.disabled_toolsets`; /tools lists the tools themselves.'].join('\n'));
  },
};

import type { McpServerReport } from '../agent/tools/mcp/servers.ts';
import type { ToolGroup } from '../agent/tools/toolsets.ts';
import type { Command } from './contract.ts';
import { serverLine } from './server-line.ts';

const maxNames = 40;

const groupLine = ({ toolset, tools }: ToolGroup): string => {
  const names = tools.map(({ definition }) => definition.name);
  return `**${toolset}** ${names.slice(0, maxNames).map((name) => `\`${name}\``).join(', ')}${names.length > maxNames ? ` and ${names.length - maxNames} more` : ''}`;
};

/** Everything that the agent has, by toolset, and the servers whose tools cannot be used right now. */
const listText = (selected: readonly ToolGroup[], servers: readonly McpServerReport[]): string => {
  const away = servers.filter(({ status }) => status.state !== 'ready' && status.state !== 'resting').map((server) => `⚠️ ${serverLine(server)}`);
  const groups = selected.length === 0 ? ['I have no tools here.'] : selected.map(groupLine);
  return [...groups, ...(away.length === 0 ? [] : ['', ...away])].join('\n');
};

/** What one tool does. */
const toolText = (selected: readonly ToolGroup[], name: string): string => {
  for (const { toolset, tools } of selected) {
    const found = tools.find(({ definition }) => definition.name === name);
    if (found !== undefined) return `**${name}** (${toolset})\n${found.definition.description}`;
  }
  return `I have no tool named ${name.slice(0, 100)} here. /tools lists what I have.`;
};

export const tools: Command = {
  name: 'tools',
  aliases: [],
  category: 'Tools',
  description: 'Show the tools that I have here',
  args: '[name]',
  whileRunning: 'allowed',
  run(_tx, call) {
    const reach = call.reach.tools?.({ account: call.event.account, agent: call.agent });
    if (reach === undefined) return Promise.resolve('The tools of this agent are its own; I cannot list them.');
    return Promise.resolve(call.args === '' ? listText(reach.selected, call.reach.mcp?.report() ?? []) : toolText(reach.selected, call.args));
  },
};

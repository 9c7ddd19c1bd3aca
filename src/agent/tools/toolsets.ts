import { z } from 'zod';
import { defineSection } from '../../config/section.ts';
import { platformOf } from '../../core/ids.ts';
import type { AccountName } from '../../core/ids.ts';
import type { Tool } from './contract.ts';

/** Tools that are switched on and off together. */
export interface ToolGroup {
  readonly toolset: string;
  readonly tools: readonly Tool[];
}

interface Toolset {
  readonly description: string;
  readonly tools: readonly string[];
}

/** Every toolset of our own. The tools of an MCP server are one more each, named `mcp-<server>`; `mcp` stands for all of them. */
export const toolsets: Readonly<Record<string, Toolset>> = {
  file: { description: 'Read, write, change and search files', tools: ['read_file', 'write_file', 'patch', 'search_files'] },
  terminal: { description: 'Run commands and look after running ones', tools: ['terminal', 'process'] },
  web: { description: 'Search the web and read pages', tools: ['web_search', 'web_fetch'] },
  memory: { description: 'Remember things across conversations', tools: ['memory'] },
  session_search: { description: 'Look things up in earlier conversations', tools: ['session_search'] },
  skills: { description: 'Use and write instructions for recurring work', tools: ['skills_list', 'skill_view', 'skill_manage'] },
  todo: { description: 'Keep a plan for longer work', tools: ['todo'] },
  clarify: { description: 'Ask the person a question', tools: ['clarify'] },
  messaging: { description: 'Send messages to other chats', tools: ['send_message'] },
  delegation: { description: 'Hand work to helpers', tools: ['delegate_task'] },
  cronjob: { description: 'Do work at a later time', tools: ['cronjob'] },
  time: { description: 'Know the date and the time', tools: ['current_time'] },
};

const mcpPrefix = 'mcp-';
const everything = [...Object.keys(toolsets), 'mcp'];
const without = (...names: readonly string[]): readonly string[] => everything.filter((name) => !names.includes(name));

/** What a place has when nothing is written about it, where that is not everything. `hermes-<platform>` names it, for any platform. */
const presets: Readonly<Record<string, readonly string[]>> = {
  'hermes-acp': without('clarify', 'messaging', 'cronjob'),
  'hermes-api-server': without('clarify', 'messaging'),
  'hermes-cron': without('clarify', 'cronjob'),
  'hermes-webhook': ['web', 'clarify', 'time'],
};

const presetName = (platform: string): string => `hermes-${platform.replaceAll('_', '-')}`;

const isPreset = (name: string): boolean => /^hermes-[a-z0-9_-]+$/.test(name);

/** Whether this names a toolset, or several of them. */
export const isToolset = (name: string): boolean => name === 'all' || everything.includes(name) || isPreset(name) || (name.startsWith(mcpPrefix) && name.length > mcpPrefix.length);

/** The name of a toolset, as the settings have it. */
export const toolsetName = z.string().trim().refine(isToolset, `is no toolset; there are ${everything.join(', ')}, mcp-<server>, hermes-<platform> and all`);

const choice = z.strictObject({
  toolsets: z.array(toolsetName).optional().describe('Only these. `hermes-<platform>` stands for what that platform has by itself, `all` for everything'),
  disabled_toolsets: z.array(toolsetName).default([]).describe('None of these, whatever else is said'),
});

/** Which tools the agent has, in general, on a platform or account, and per agent. */
export const toolsSection = defineSection(
  'tools',
  z
    .strictObject({
      ...choice.shape,
      platforms: z.record(z.string(), choice).default({}).describe('The same for one platform or account; its `toolsets` take the place of the general ones'),
      agents: z.record(z.string(), choice).default({}).describe('The same for one agent; its `toolsets` narrow down what the platform has'),
    })
    .prefault({}),
  'live',
);

export type ToolsOptions = z.output<typeof toolsSection.schema>;

/** Where the tools are used, and by whom. */
export interface ToolPlace {
  readonly account: AccountName;
  readonly agent: string;
  /** Nothing but these, of what there would be. */
  readonly only?: readonly string[] | undefined;
}

/** The tools of ours, each with its toolset, in the order of the table above. A tool that belongs to none is a mistake. */
export const groupTools = (tools: readonly Tool[]): readonly ToolGroup[] => {
  const groups = Object.entries(toolsets).map(([toolset, { tools: names }]) => ({ toolset, tools: tools.filter((tool) => tool.toolset === toolset || names.includes(tool.definition.name)) }));
  const stray = tools.find((tool) => !groups.some((group) => group.tools.includes(tool)));
  if (stray !== undefined) throw new Error(`no toolset has the tool ${stray.definition.name}`);
  return groups.filter((group) => group.tools.length > 0);
};

const contains = (names: readonly string[], toolset: string): boolean =>
  names.some((name) => {
    if (name === toolset || name === 'all' || (name === 'mcp' && toolset.startsWith(mcpPrefix))) return true;
    return isPreset(name) && contains(presets[name.replaceAll('_', '-')] ?? everything, toolset);
  });

/** Names are chosen by people: what every object has by itself is not meant. */
const written = <T>(entries: Readonly<Record<string, T>>, name: string): T | undefined => (Object.hasOwn(entries, name) ? entries[name] : undefined);

const isSelected = (settings: ToolsOptions, { account, agent, only }: ToolPlace): ((toolset: string) => boolean) => {
  const platform = written(settings.platforms, account) ?? written(settings.platforms, platformOf(account));
  const own = written(settings.agents, agent);
  const enabled = platform?.toolsets ?? settings.toolsets ?? [presetName(platformOf(account))];
  const disabled = [...settings.disabled_toolsets, ...(platform?.disabled_toolsets ?? []), ...(own?.disabled_toolsets ?? [])];
  return (toolset) => contains(enabled, toolset) && (own?.toolsets === undefined || contains(own.toolsets, toolset)) && (only === undefined || contains(only, toolset)) && !contains(disabled, toolset);
};

/** What an agent has at a place: what the platform has, narrowed down by what the agent has, without anything that is disabled anywhere. */
export const selectGroups = (all: readonly ToolGroup[], settings: ToolsOptions, place: ToolPlace): readonly ToolGroup[] => {
  const selected = isSelected(settings, place);
  return all.filter(({ toolset }) => selected(toolset));
};

/** The same as one list, in the order of the groups. */
export const selectTools = (all: readonly ToolGroup[], settings: ToolsOptions, place: ToolPlace): readonly Tool[] => selectGroups(all, settings, place).flatMap(({ tools }) => tools);

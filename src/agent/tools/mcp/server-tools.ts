import { z } from 'zod';
import { markUntrusted } from '../../untrusted-text.ts';
import { ToolError } from '../contract.ts';
import type { Tool, ToolContext } from '../contract.ts';
import { defineTool } from '../define-tool.ts';
import { cleanSchema } from './clean-schema.ts';
import { boundedLine, boundedText } from '../clean-text.ts';
import type { ServerRequest } from './connection.ts';
import type { ListedTool } from './list-tools.ts';
import type { McpServerOptions } from './options.ts';
import { renderBlocks, renderResource, renderResult } from './render-result.ts';
import type { KeepFile } from './render-result.ts';
import type { McpServer } from './server.ts';

/** A tool of a server before it has the name under which the model knows it. */
export interface UnnamedTool {
  readonly server: string;
  /** In the server's own words. */
  readonly tool: string;
  as(name: string): Tool;
}

const maxDescriptionChars = 1_024;
const maxListed = 200;

const globPattern = (glob: string): RegExp => new RegExp(`^${glob.split('*').map((part) => RegExp.escape(part)).join('.*')}$`);

/** Whether the owner wants the agent to have this tool. */
export const isOffered = (tool: string, { include, exclude }: McpServerOptions['tools']): boolean =>
  include === undefined ? !exclude.some((glob) => globPattern(glob).test(tool)) : include.some((glob) => globPattern(glob).test(tool));

interface Origin {
  readonly server: McpServer;
  readonly options: McpServerOptions;
  readonly keep: KeepFile;
}

const sourceOf = ({ server }: Origin): string => `MCP server ${server.name}`;

const nativeTool = (origin: Origin, listed: ListedTool): UnnamedTool => {
  const { server, options, keep } = origin;
  const definition = { name: listed.name, inputSchema: { ...listed.inputSchema, type: 'object' as const } };
  const parameters = cleanSchema(listed.inputSchema);
  const description = boundedText(listed.description, maxDescriptionChars) || `The tool ${boundedLine(listed.name, 100)} of ${sourceOf(origin)}`;
  return {
    server: server.name,
    tool: listed.name,
    as: (name) => ({
      definition: { name, description, parameters },
      parallelSafe: options.supports_parallel_tool_calls,
      async run(args, context, signal) {
        const result = await server.use(context, signal, (client, how) => client.callTool({ name: listed.name, arguments: { ...args } }, { ...how, toolDefinition: definition }));
        const text = markUntrusted(sourceOf(origin), await renderResult(result, keep));
        if (result.isError === true) throw new ToolError('failed', text);
        return text;
      },
    }),
  };
};

interface Utility<Args, Result> {
  readonly tool: string;
  readonly description: string;
  readonly args: z.ZodType<Args>;
  request(args: Args): ServerRequest<Result>;
  render(result: Result): string | Promise<string>;
}

const utilityTool = <Args, Result>(origin: Origin, utility: Utility<Args, Result>): UnnamedTool => ({
  server: origin.server.name,
  tool: utility.tool,
  as: (name) =>
    defineTool({
      name,
      description: utility.description,
      args: utility.args,
      parallelSafe: origin.options.supports_parallel_tool_calls,
      async run(args: Args, context: ToolContext, signal) {
        const result = await origin.server.use(context, signal, utility.request(args));
        return markUntrusted(sourceOf(origin), await utility.render(result));
      },
    }),
});

const listOr = (nothing: string, lines: readonly string[]): string => {
  if (lines.length === 0) return nothing;
  return [...lines.slice(0, maxListed), ...(lines.length > maxListed ? [`… and ${lines.length - maxListed} more`] : [])].join('\n');
};

const line = (name: string, description: string | undefined): string => boundedLine(description === undefined ? `- ${name}` : `- ${name}: ${description}`, 400);

const resourceTools = (origin: Origin): readonly UnnamedTool[] => [
  utilityTool(origin, {
    tool: 'list_resources',
    description: `Lists what ${sourceOf(origin)} has to read, with the address of each.`,
    args: z.object({}),
    request: () => (client, how) => client.listResources({}, how),
    render: ({ resources }) => listOr('No resources.', resources.map(({ uri, name, description }) => line(`${uri} (${name})`, description))),
  }),
  utilityTool(origin, {
    tool: 'read_resource',
    description: `Reads a resource of ${sourceOf(origin)} by its address.`,
    args: z.object({ uri: z.string().min(1).describe('Address, as listed.') }),
    request: ({ uri }) => (client, how) => client.readResource({ uri }, how),
    render: async ({ contents }) => {
      const parts: string[] = [];
      for (const content of contents) parts.push(await renderResource(content, origin.keep));
      return parts.join('\n\n');
    },
  }),
];

const promptTools = (origin: Origin): readonly UnnamedTool[] => [
  utilityTool(origin, {
    tool: 'list_prompts',
    description: `Lists the prompts that ${sourceOf(origin)} has prepared.`,
    args: z.object({}),
    request: () => (client, how) => client.listPrompts({}, how),
    render: ({ prompts }) => listOr('No prompts.', prompts.map((prompt) => line(`${prompt.name}(${(prompt.arguments ?? []).map((each) => each.name).join(', ')})`, prompt.description))),
  }),
  utilityTool(origin, {
    tool: 'get_prompt',
    description: `Fetches a prompt of ${sourceOf(origin)}.`,
    args: z.object({ name: z.string().min(1), arguments: z.record(z.string(), z.string()).optional() }),
    request: (args) => (client, how) => client.getPrompt({ name: args.name, ...(args.arguments !== undefined && { arguments: args.arguments }) }, how),
    render: async ({ messages }) => {
      const parts: string[] = [];
      for (const { role, content } of messages) parts.push(`${role}: ${await renderBlocks([content], origin.keep)}`);
      return parts.join('\n\n');
    },
  }),
];

/** Everything of a server that the owner lets the agent have. */
export const serverTools = (origin: Origin): readonly UnnamedTool[] => {
  const { tools } = origin.options;
  const { offers } = origin.server;
  return [
    ...offers.tools.filter((tool) => isOffered(tool.name, tools)).map((tool) => nativeTool(origin, tool)),
    ...(offers.resources && tools.resources ? resourceTools(origin) : []),
    ...(offers.prompts && tools.prompts ? promptTools(origin) : []),
  ];
};

import type { McpServerReport } from '../agent/tools/mcp/servers.ts';

/** How an MCP server is, in one line. */
export const serverLine = ({ name, status, tools }: McpServerReport): string => {
  switch (status.state) {
    case 'ready':
      return `**${name}** connected, ${tools} ${tools === 1 ? 'tool' : 'tools'}`;
    case 'resting':
      return `**${name}** resting until it is needed, ${tools} ${tools === 1 ? 'tool' : 'tools'}`;
    case 'connecting':
      return `**${name}** is being connected`;
    case 'waiting':
      return `**${name}** is unavailable: ${status.reason}`;
    case 'login':
      return `**${name}** is unavailable: ${status.reason}`;
    default:
      return status satisfies never;
  }
};

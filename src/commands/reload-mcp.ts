import { slept } from '../lib/clock.ts';
import type { AfterCommit, Command } from './contract.ts';
import type { McpReach } from './reach.ts';
import { serverLine } from './server-line.ts';

const longestWaitMs = 15_000;
const lookEveryMs = 100;

/** How the servers are, once each of them has been tried or the patience is over. */
const reconnect = async (mcp: McpReach, { clock, signal }: AfterCommit): Promise<string> => {
  mcp.reconnect();
  const untilMs = clock.now() + longestWaitMs;
  while (mcp.report().some(({ status }) => status.state === 'connecting') && clock.now() < untilMs) if (!(await slept(clock, lookEveryMs, signal))) break;
  return `🔄 MCP servers:\n${mcp.report().map(serverLine).join('\n')}`;
};

export const reloadMcp: Command = {
  name: 'reload-mcp',
  aliases: [],
  category: 'Tools',
  description: 'Connect the MCP servers anew',
  role: 'admin',
  whileRunning: 'allowed',
  confirm: (_tx, call) =>
    Promise.resolve((call.reach.mcp?.report() ?? []).length === 0 ? undefined : 'Connect all MCP servers anew? Calls that they are working on fail, and when their tools have changed, the next answer of every conversation costs more because nothing of it is cached.'),
  run(_tx, call) {
    const { mcp } = call.reach;
    if (mcp === undefined || mcp.report().length === 0) return Promise.resolve('There are no MCP servers. The owner can add some below `mcp_servers`.');
    call.after((after) => reconnect(mcp, after));
    return Promise.resolve('');
  },
};

import { Command } from 'commander';
import type { Terminal } from './environment.ts';

const help = `
An editor starts it and speaks to it over standard input and output. In Zed, for example, in settings.json:
  "agent_servers": { "Hermes": { "command": "hermes", "args": ["acp"] } }`;

/** `hermes acp`: the agent for editors. Loaded only when it is used. */
export const acpCommand = (terminal: Terminal): Command =>
  new Command('acp')
    .description('Serve the agent to an editor over the Agent Client Protocol')
    .addHelpText('after', help)
    .action(async () => {
      const { serveAcp } = await import('./acp/serve-acp.ts');
      await serveAcp(terminal);
    });

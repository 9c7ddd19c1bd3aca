import { Command } from 'commander';
import { resolveHome } from '../config/home.ts';
import { ConfigError } from '../core/errors.ts';
import { systemClock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import { newRedactor } from '../lib/redact.ts';
import { requireConfig } from './configuration/settings.ts';
import { json, table } from './environment.ts';
import type { Terminal } from './environment.ts';
import { noteAct } from './note-act.ts';
import { outsideOf } from './process/outside.ts';

/** Time to find the password in another window. */
const loginTimeoutMs = 300_000;

const list = async (terminal: Terminal, flags: { json?: true }): Promise<void> => {
  const redactor = terminal.redactor ?? newRedactor();
  const { sections } = await requireConfig(terminal, redactor);
  const servers = Object.entries(sections.mcp_servers).map(([name, options]) => ({ name, enabled: options.enabled, where: redactor.redact(options.url ?? [options.command, ...options.args].join(' ')), auth: options.auth ?? 'none' }));
  if (flags.json === true) terminal.write(json(servers));
  else terminal.write(servers.length === 0 ? 'There are no MCP servers. Add one below mcp_servers in config.yaml.\n' : `${table(servers.map(({ name, enabled, where, auth }) => [name, enabled ? '' : 'off', where, auth]))}\n`);
};

const logIn = async (terminal: Terminal, name: string, flags: { again?: true }): Promise<void> => {
  const home = resolveHome(terminal.env);
  const redactor = terminal.redactor ?? newRedactor();
  const { sections } = await requireConfig(terminal, redactor);
  const options = sections.mcp_servers[name];
  if (options === undefined) throw new ConfigError(`There is no MCP server called ${name}. hermes mcp list shows those of the configuration.`);
  const { logInTo } = await import('../agent/tools/mcp/log-in.ts');
  const { tools } = await logInTo(
    {
      name,
      options,
      home,
      version: terminal.version,
      clock: systemClock,
      log: silentLogger,
      redact: (text) => redactor.redact(text),
      environment: () => outsideOf(terminal, home).childEnvironment?.(sections.terminal.env_passthrough) ?? {},
      show: (address) => terminal.write(`Open this address in a browser on this machine and log in:\n\n  ${address.href}\n\n`),
      ...(flags.again === true && { again: true }),
    },
    AbortSignal.timeout(loginTimeoutMs),
  );
  noteAct(home, 'mcp login', name);
  terminal.write(`Logged in to ${name}: ${tools} ${tools === 1 ? 'tool' : 'tools'}. A running gateway takes it over with /reload-mcp.\n`);
};

export const mcpCommand = (terminal: Terminal): Command => {
  const command = new Command('mcp').description('Servers whose tools the agent has').addHelpText('after', '\nExamples:\n  hermes mcp list\n  hermes mcp login tracker');
  command.command('list').description('The servers of the configuration').option('--json', 'print JSON').action((flags: { json?: true }) => list(terminal, flags));
  command
    .command('login')
    .description('Log in to a server with `auth: oauth`')
    .argument('<server>', 'its name below mcp_servers')
    .option('--again', 'forget an earlier login first')
    .action((name: string, flags: { again?: true }) => logIn(terminal, name, flags));
  return command;
};

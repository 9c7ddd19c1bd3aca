import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { processEnvironment } from '../config/variables.ts';
import { ConfigError, StoreError } from '../core/errors.ts';
import { newRedactor } from '../lib/redact.ts';
import { platforms, usePlatforms } from '../platforms/registry.ts';
import { acpCommand } from './acp.ts';
import { agentCommand } from './agent.ts';
import { apiCommand } from './api-keys.ts';
import { chatCommand } from './chat/command.ts';
import { completionCommand } from './completion.ts';
import { accessCommand } from './access.ts';
import { auditCommand, auditLogCommand } from './audit.ts';
import { backupCommand } from './backup.ts';
import { channelsCommand } from './channels.ts';
import { leaveWhenNobodyReads } from './closed-output.ts';
import { configCommand } from './config.ts';
import { cronCommand } from './cron.ts';
import { doctorCommand } from './doctor.ts';
import { Exit } from './environment.ts';
import type { Terminal } from './environment.ts';
import { eraseCommand } from './erase.ts';
import { explainCommand } from './explain.ts';
import { exportCommand } from './export.ts';
import { gatewayCommand } from './gateway/command.ts';
import { hooksCommand } from './hooks.ts';
import { importCommand } from './import.ts';
import { loginCommand } from './login.ts';
import { logsCommand } from './logs.ts';
import { mcpCommand } from './mcp.ts';
import { pairingCommand } from './pairing.ts';
import { restoreCommand } from './restore.ts';
import { platformCommand } from './platform.ts';
import { loadPlugins } from './plugins.ts';
import { sendCommand } from './send.ts';
import { sessionsCommand } from './sessions.ts';
import { sections } from './settings.ts';
import { setupCommand } from './setup.ts';
import { statusCommand } from './status.ts';
import { traceCommand } from './trace.ts';
import { verifyCommand } from './verify.ts';
import { webhookCommand } from './webhook.ts';

const version = (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version;

export const program = (terminal: Terminal): Command => {
  const all = new Command('hermes')
    .description('One process that puts an AI agent into the chats you already use')
    .version(terminal.version, '-V, --version')
    .configureOutput({ writeOut: (text) => terminal.write(text), writeErr: (text) => terminal.writeError(text) })
    .exitOverride()
    .addHelpText('after', '\nExamples:\n  hermes                  talk to the agent in this terminal; hermes chat --help shows how\n  hermes setup            a model, a messenger and yourself, in a few questions\n  hermes gateway run      all platforms and the page, whose address it prints\n  hermes status           what is connected, what waits, what failed\n  hermes trace 42         the life of one message');
  const chat = chatCommand(terminal, () => all.commands.map((command) => command.name()));
  all.addCommand(chat.exitOverride(), { isDefault: true });
  for (const command of [setupCommand(terminal), gatewayCommand(terminal), statusCommand(terminal), logsCommand(terminal), doctorCommand(terminal), traceCommand(terminal), sessionsCommand(terminal), cronCommand(terminal), agentCommand(terminal), sendCommand(terminal), channelsCommand(terminal), hooksCommand(terminal), webhookCommand(terminal), platformCommand(terminal), accessCommand(terminal), pairingCommand(terminal), verifyCommand(terminal), explainCommand(terminal), loginCommand(terminal), auditLogCommand(terminal), mcpCommand(terminal), acpCommand(terminal), apiCommand(terminal), backupCommand(terminal), restoreCommand(terminal), importCommand(terminal), exportCommand(terminal), eraseCommand(terminal), configCommand({ ...terminal, sections, platforms }), completionCommand(terminal, { all: () => all, byDefault: chat })]) {
    all.addCommand(command.exitOverride());
  }
  return all.hook('postAction', (_all, command) => auditCommand(terminal, command));
};

/** 78: the configuration or the home has to be mended first. 1: anything else. */
const exitCodeOf = (error: unknown): number => {
  if (error instanceof ConfigError) return error.exitCode;
  if (error instanceof StoreError && (error.code === 'newer' || error.code === 'corrupt' || error.code === 'unwritable')) return 78;
  return 1;
};

const report = (terminal: Terminal, error: unknown): number => {
  if (error instanceof CommanderError) return error.exitCode;
  if (error instanceof Exit) return error.code;
  const expected = error instanceof ConfigError || error instanceof StoreError;
  const text = expected ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error);
  terminal.writeError(`${terminal.redactor?.redact(text) ?? text}\n`);
  return exitCodeOf(error);
};

export const main = async (argv: readonly string[]): Promise<void> => {
  leaveWhenNobodyReads(argv[2] === 'gateway' && (argv[3] === undefined || argv[3] === 'run' || argv[3].startsWith('-')));
  const terminal: Terminal = {
    env: processEnvironment(),
    version,
    redactor: newRedactor(),
    stream: process.stdout,
    write: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
  };
  try {
    usePlatforms(await loadPlugins(terminal.env));
    await program(terminal).parseAsync([...argv]);
  } catch (error) {
    process.exitCode = report(terminal, error);
  }
};

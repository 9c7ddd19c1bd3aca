import type { Command } from 'commander';
import { platforms } from '../platforms/registry.ts';
import { acpCommand } from './acp.ts';
import { agentCommand } from './agent.ts';
import { apiCommand } from './api-keys.ts';
import { chatCommand } from './chat/command.ts';
import { completionCommand } from './completion.ts';
import { accessCommand } from './access.ts';
import { auditLogCommand } from './audit.ts';
import { backupCommand } from './backup.ts';
import { channelsCommand } from './channels.ts';
import { configCommand } from './config.ts';
import { cronCommand } from './cron.ts';
import { doctorCommand } from './doctor.ts';
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
import { sendCommand } from './send.ts';
import { rootCommand } from './root-command.ts';
import { sessionsCommand } from './sessions.ts';
import { sections } from './configuration/settings.ts';
import { setupCommand } from './setup.ts';
import { statusCommand } from './status.ts';
import { traceCommand } from './trace.ts';
import { verifyCommand } from './verify.ts';
import { webhookCommand } from './webhook.ts';

/** Everything that `hermes` can be asked for. */
export const program = (terminal: Terminal): Command => {
  const all = rootCommand(terminal);
  const chat = chatCommand(terminal, () => all.commands.map((command) => command.name()));
  all.addCommand(chat.exitOverride(), { isDefault: true });
  for (const command of [setupCommand(terminal), gatewayCommand(terminal), statusCommand(terminal), logsCommand(terminal), doctorCommand(terminal), traceCommand(terminal), sessionsCommand(terminal), cronCommand(terminal), agentCommand(terminal), sendCommand(terminal), channelsCommand(terminal), hooksCommand(terminal), webhookCommand(terminal), platformCommand(terminal), accessCommand(terminal), pairingCommand(terminal), verifyCommand(terminal), explainCommand(terminal), loginCommand(terminal), auditLogCommand(terminal), mcpCommand(terminal), acpCommand(terminal), apiCommand(terminal), backupCommand(terminal), restoreCommand(terminal), importCommand(terminal), exportCommand(terminal), eraseCommand(terminal), configCommand({ ...terminal, sections, platforms }), completionCommand(terminal, { all: () => all, byDefault: chat })]) {
    all.addCommand(command.exitOverride());
  }
  return all;
};

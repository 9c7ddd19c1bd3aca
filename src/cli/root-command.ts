import { Command } from 'commander';
import { auditCommand, requireAuditLog } from './audit.ts';
import type { Terminal } from './environment.ts';
import { tellRootsFiles } from './home/root-in-home.ts';

/** `hermes` without any of its commands. */
export const rootCommand = (terminal: Terminal): Command =>
  new Command('hermes')
    .description('One process that puts an AI agent into the chats you already use')
    .version(terminal.version, '-V, --version')
    .configureOutput({ writeOut: (text) => terminal.write(text), writeErr: (text) => terminal.writeError(text) })
    .exitOverride()
    .addHelpText('after', '\nExamples:\n  hermes                  talk to the agent in this terminal; hermes chat --help shows how\n  hermes setup            a model, a messenger and yourself, in a few questions\n  hermes gateway run      all platforms and the page, whose address it prints\n  hermes status           what is connected, what waits, what failed\n  hermes trace 42         the life of one message')
    .hook('preAction', (_root, command) => requireAuditLog(terminal, command))
    .hook('postAction', (_root, command) => auditCommand(terminal, command))
    .hook('postAction', () => tellRootsFiles(terminal));

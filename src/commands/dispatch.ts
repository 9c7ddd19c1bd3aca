import type { Writing } from '../store/store.ts';
import { unfinishedTurn } from '../store/turns.ts';
import type { Command, CommandAnswer, CommandCall } from './contract.ts';
import type { ParsedCommand } from './parse.ts';
import { resolveCommand } from './registry.ts';

/** Carries a command out inside the caller's transaction; answers what the chat is told. */
export const dispatchCommand = async (tx: Writing, parsed: ParsedCommand, call: CommandCall): Promise<CommandAnswer> => {
  const resolved = resolveCommand(parsed.name);
  switch (resolved.type) {
    case 'unknown':
      return open(`I do not know /${parsed.name.slice(0, 40)}. /help shows the commands.`);
    case 'ambiguous':
      return open(`/${parsed.name} could be ${resolved.candidates.map((command) => `/${command.name}`).join(' or ')}. Please write more of it.`);
    case 'command':
      return runCommand(tx, resolved.command, call);
    default:
      throw resolved satisfies never;
  }
};

const open = (text: string): CommandAnswer => ({ text, secret: false });

const runCommand = async (tx: Writing, command: Command, call: CommandCall): Promise<CommandAnswer> => {
  if (!call.access.mayRun([command.name, ...command.aliases])) return open(`⛔ /${command.name} is for admins here. /help shows the commands.`);
  if (command.whileRunning === 'refused' && (await unfinishedTurn(tx, call.lane)) !== undefined) return open(`⏳ I am still working. Wait for the answer or /stop first, then /${command.name} again.`);
  return { text: await command.run(tx, call), secret: command.secretAnswer === true };
};

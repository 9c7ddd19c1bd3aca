import type { Writing } from '../store/store.ts';
import { unfinishedTurn } from '../store/turns.ts';
import type { Command, CommandCall } from './contract.ts';
import type { ParsedCommand } from './parse.ts';
import { resolveCommand } from './registry.ts';

/** Carries a command out inside the caller's transaction; answers what the chat is told. */
export const dispatchCommand = async (tx: Writing, parsed: ParsedCommand, call: CommandCall): Promise<string> => {
  const resolved = resolveCommand(parsed.name);
  switch (resolved.type) {
    case 'unknown':
      return `I do not know /${parsed.name.slice(0, 40)}. /help shows the commands.`;
    case 'ambiguous':
      return `/${parsed.name} could be ${resolved.candidates.map((command) => `/${command.name}`).join(' or ')}. Please write more of it.`;
    case 'command':
      return runCommand(tx, resolved.command, call);
    default:
      throw resolved satisfies never;
  }
};

const runCommand = async (tx: Writing, command: Command, call: CommandCall): Promise<string> => {
  if (command.whileRunning === 'refused' && (await unfinishedTurn(tx, call.lane)) !== undefined) return `⏳ I am still working. Wait for the answer or /stop first, then /${command.name} again.`;
  return command.run(tx, call);
};

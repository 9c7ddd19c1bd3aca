import type { RuledCommand } from '../access/command-access.ts';
import type { Question } from '../core/question.ts';
import { lockLane } from '../store/lanes/lanes.ts';
import { unfinishedTurn } from '../store/sessions/turns.ts';
import type { Writing } from '../store/store.ts';
import type { Command, CommandCall, CommandResult } from './contract.ts';
import { parseCommand } from './parse.ts';
import type { ParsedCommand } from './parse.ts';
import { resolveCommand } from './registry.ts';
import { existsAt, usableCommands } from './visible.ts';

/** An alias may stand for an alias, but not for itself in the end. */
const mostAliases = 5;

/** Carries a command out inside the caller's transaction; answers what the chat is told or asked. */
export const dispatchCommand = (tx: Writing, parsed: ParsedCommand, call: Omit<CommandCall, 'args'>): Promise<CommandResult> => dispatch(tx, parsed, { ...call, args: parsed.args }, 0);

const dispatch = async (tx: Writing, parsed: ParsedCommand, call: CommandCall, aliases: number): Promise<CommandResult> => {
  const resolved = resolveCommand(parsed.name, call.commands, usableCommands(call));
  switch (resolved.type) {
    case 'unknown':
      return tell(`I do not know /${parsed.name.slice(0, 40)}. /help shows the commands.`);
    case 'ambiguous':
      return tell(`/${parsed.name} could be ${resolved.candidates.map((command) => `/${command.name}`).join(' or ')}. Please write more of it.`);
    case 'command':
      return refusal(resolved.command, call) ?? (resolved.command.standsFor === undefined ? runCommand(tx, resolved.command, call) : follow(tx, resolved.command, call, aliases));
    default:
      throw resolved satisfies never;
  }
};

const tell = (text: string, secret = false): CommandResult => ({ type: 'answer', text, secret });

const refusal = (command: Command, call: CommandCall): CommandResult | undefined => {
  if (!existsAt(command, call)) {
    const fix = command.gate === undefined || command.gate.isOpen(call.settings, call.surface) ? '' : ` The owner can switch it on with \`${command.gate.setting}\`.`;
    return tell(`⛔ There is no /${command.name} here.${fix}`);
  }
  return call.access.mayRun(command) ? undefined : tell(`⛔ /${command.name} is for admins here. /help shows the commands.`);
};

/** Whoever may use an alias may use what it stands for, unless that is for admins. */
const follow = (tx: Writing, alias: Command, call: CommandCall, aliases: number): Promise<CommandResult> | CommandResult => {
  const target = parseCommand(`/${(alias.standsFor ?? '').replace(/^\//, '')} ${call.args}`);
  if (target === undefined || aliases >= mostAliases) return tell(`⚠️ /${alias.name} stands for no command. The owner has to check \`quick_commands.${alias.name}\`.`);
  const mayRun = (command: RuledCommand): boolean => command.role !== 'admin' || call.access.mayRun(command);
  return dispatch(tx, target, { ...call, args: target.args, access: { ...call.access, mayRun } }, aliases + 1);
};

/** `-y` or `--yes` at the end, or `now` alone, says yes before the question. */
const saidYes = (args: string): string | undefined => {
  if (args.toLowerCase() === 'now') return '';
  const match = /^([\s\S]*?)\s*(?<![^\s])(?:--yes|-y)$/.exec(args);
  return match === null ? undefined : (match[1] ?? '').trim();
};

const runCommand = async (tx: Writing, command: Command, given: CommandCall): Promise<CommandResult> => {
  if (command.whileRunning === 'refused') {
    // No turn begins between the look and what the command does.
    await lockLane(tx, { lane: given.lane, kind: 'turn' });
    if ((await unfinishedTurn(tx, given.lane)) !== undefined) return tell(`⏳ I am still working. Wait for the answer or /stop first, then /${command.name} again.`);
  }
  const sure = command.confirm === undefined ? undefined : saidYes(given.args);
  const call = sure === undefined ? given : { ...given, args: sure, confirmed: true };
  const text = call.asks && !call.confirmed ? await command.confirm?.(tx, call) : undefined;
  if (text !== undefined) return { type: 'ask', question: confirmation(text, call) };
  // Only the first word behind it: what follows may be a code.
  if (command.role === 'admin' && command.notesItself !== true) call.acted({ act: `/${command.name} ${call.args.split(/\s/, 1)[0] ?? ''}`.trim() });
  return tell(await command.run(tx, call), command.secretAnswer === true);
};

const confirmTimeoutMs = 300_000;

/** Answers to the question whether a command is to be carried out. */
export type Confirmation = 'yes' | 'always' | 'no';

const confirmation = (text: string, call: CommandCall): Question => {
  const always = call.reach.changeSetting !== undefined && call.access.mayAdminister;
  const option = (value: Confirmation, label: string, words: readonly string[]) => ({ value, label, words });
  return {
    text,
    options: [
      option('yes', 'Yes', ['yes', 'y', 'ok', 'okay', 'confirm', 'approve', '👍']),
      ...(always ? [option('always', 'Yes, never ask again', ['always'])] : []),
      option('no', 'Cancel', ['no', 'n', 'cancel', 'deny', 'reject', '👎']),
    ],
    answerer: 'asker',
    timeoutMs: confirmTimeoutMs,
  };
};

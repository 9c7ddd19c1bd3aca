import { Command } from 'commander';
import { systemClock } from '../../lib/clock.ts';
import { ConfigError } from '../../core/errors.ts';
import type { Terminal } from '../environment.ts';
import { json } from '../environment.ts';
import { readPipedInput } from '../arguments/piped-input.ts';
import { refuseUnknown } from '../arguments/refuse-unknown.ts';
import type { WindowWish } from './window.ts';

interface ChatFlags extends WindowWish {
  readonly query?: string;
  readonly json?: true;
  readonly plain?: true;
  /** False with --no-color. */
  readonly color: boolean;
}

const examples = `
Examples:
  hermes                               talk in this terminal
  hermes -c                            go on where you were
  hermes -r "trip to rome"             go back to a conversation by its title or id
  hermes -q "what time is it?"         print only the answer
  git diff | hermes -q "review this"   ask about what comes through the pipe`;

const questionOf = async (flags: ChatFlags): Promise<string | undefined> => {
  if (flags.query === undefined && (process.stdin.isTTY || flags.plain === true)) return undefined;
  const piped = await readPipedInput();
  const question = [flags.query ?? '', piped].filter((part) => part.trim() !== '').join('\n\n');
  if (question === '') throw new ConfigError('There is no question. Give one with -q, pipe one in, or start hermes in a terminal.');
  return question;
};

/** `NO_COLOR` with any value but the empty one, as its convention says. */
const isColored = (terminal: Terminal, flags: ChatFlags, stream: NodeJS.WriteStream): boolean =>
  flags.color && (terminal.env['NO_COLOR'] ?? '') === '' && stream.isTTY && terminal.env['TERM'] !== 'dumb';

const ask = async (terminal: Terminal, flags: ChatFlags, question: string): Promise<void> => {
  const { runQuery } = await import('./run-query.ts');
  const result = await runQuery(terminal, { question, wish: flags, colored: isColored(terminal, flags, process.stdout) });
  if (flags.json === true) terminal.write(json(result));
  if (!result.ok) process.exitCode = 1;
};

const talk = async (terminal: Terminal, flags: ChatFlags): Promise<void> => {
  const { runChat } = await import('./run-chat.ts');
  const isPlain = flags.plain === true || !process.stdin.isTTY || !process.stdout.isTTY || terminal.env['TERM'] === 'dumb';
  await runChat(terminal, { wish: flags, isPlain, colored: isColored(terminal, flags, process.stdout), clock: systemClock });
};

/** `hermes` and `hermes chat`: the conversation in the terminal, or one question and its answer. */
export const chatCommand = (terminal: Terminal, names: () => readonly string[]): Command => {
  const command = new Command('chat')
    .description('Talk to the agent in this terminal, or ask one question')
    .option('-c, --continue', 'go on with the last conversation of the terminal')
    .option('-r, --resume <name>', 'go back to a conversation: its id, the start of it, or its title')
    .option('-q, --query <question>', 'ask one question, print only the answer and leave; the exit code says whether it succeeded')
    .option('--json', 'with -q or a pipe: print the answer, session, usage and reason as JSON')
    .option('--plain', 'only add lines, never move the cursor; for dumb terminals and screen readers')
    .option('--no-color', 'without colours (NO_COLOR does the same)')
    .allowExcessArguments()
    .addHelpText('after', examples);
  return command.action(async (flags: ChatFlags) => {
    refuseUnknown(command, names());
    const question = await questionOf(flags);
    await (question === undefined ? talk(terminal, flags) : ask(terminal, flags, question));
  });
};

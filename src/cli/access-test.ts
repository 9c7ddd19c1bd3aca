import { Command } from 'commander';
import type { Role, RuledCommand } from '../access/command-access.ts';
import { commands } from '../commands/registry.ts';
import type { InboundEvent } from '../core/message.ts';
import type { Decision } from '../store/messages/inbox.ts';
import { accessOf, chatTypes, findAccount, imagine, judgeEvent } from './arguments/known-account.ts';
import type { ImaginedEvent, KnownAccount } from './arguments/known-account.ts';
import { requireConfig } from './configuration/settings.ts';
import { Exit, json, paint, table } from './environment.ts';
import type { Terminal } from './environment.ts';
import { lookIntoStore } from './home/open-home.ts';

interface Flags extends Omit<ImaginedEvent, 'chat'> {
  readonly chat?: string;
  readonly json?: true;
}

interface TestedAccess {
  readonly allowed: boolean;
  /** Which rule decided. */
  readonly by: string;
  /** Nobody who is turned away has one. */
  readonly role: Role | null;
  readonly mayLetOthersIn: boolean;
  readonly commands: readonly string[];
  readonly refusedCommands: readonly string[];
  readonly decisions: readonly Decision[];
}

const test = async (terminal: Terminal, known: KnownAccount, event: InboundEvent): Promise<TestedAccess> => {
  const { allowed, by, decisions } = await lookIntoStore(terminal, (store) => judgeEvent(store, known, event));
  const access = accessOf(known, event);
  const here = commands.filter(({ surfaces }) => surfaces?.includes(known.platform.surface ?? 'chat') !== false);
  const mayRun = (command: RuledCommand): boolean => allowed && access.mayRun(command);
  return {
    allowed,
    by,
    role: allowed ? access.role : null,
    mayLetOthersIn: allowed && access.mayAdminister,
    commands: here.filter(mayRun).map(({ name }) => name),
    refusedCommands: here.filter((command) => !mayRun(command)).map(({ name }) => name),
    decisions,
  };
};

const listed = (names: readonly string[]): string => names.map((name) => `/${name}`).join(' ');

const summary = (terminal: Terminal, tested: TestedAccess, event: InboundEvent): string => {
  const { sender, chat } = event;
  const who = `${sender.name === undefined ? '' : `${sender.name}, `}id ${sender.id}, in ${chat.type === 'dm' ? 'a direct chat' : `${chat.type} ${chat.id}`} on ${event.account}`;
  if (!tested.allowed) return `${paint(terminal, 'red', 'Turned away')}: ${who}.\nTo let them in: hermes access allow ${event.account} ${sender.id}\n`;
  const rows = [
    ['Role', tested.role ?? 'none'],
    ['Lets others in', tested.mayLetOthersIn ? 'yes' : 'no'],
    ['May run', tested.refusedCommands.length === 0 ? 'every command' : listed(tested.commands)],
    ...(tested.refusedCommands.length === 0 ? [] : [['May not run', listed(tested.refusedCommands)]]),
  ];
  return `${paint(terminal, 'green', 'Let in')}: ${who}.\n${table(rows)}\n`;
};

/** `hermes access test`: whether somebody would be let in and what they could do, with nothing happening. Leaves with 0 or 1. */
export const accessTestCommand = (terminal: Terminal): Command =>
  new Command('test')
    .description('Say whether somebody would be let in, as what, and which rule decides')
    .requiredOption('--platform <account>', 'the account, such as telegram or telegram@work')
    .requiredOption('--user <id>', 'the person; ids count, names never do')
    .option('--chat <id>', 'the chat; the direct chat with the person when left out')
    .option('--type <type>', `kind of chat: ${chatTypes.join(', ')}`, 'dm')
    .option('--name <name>', 'what they call themselves')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  hermes access test --platform telegram --user 7\n  hermes access test --platform telegram --user 7 --chat -100123 --type group\n\nThe exit code is 0 for somebody who is let in and 1 for somebody who is not.')
    .action(async (flags: Flags) => {
      const known = findAccount(await requireConfig(terminal), flags.platform);
      const event = imagine({ ...flags, chat: flags.chat ?? flags.user }, 'hello');
      const tested = await test(terminal, known, event);
      if (flags.json === true) terminal.write(json(tested));
      else terminal.write(`${table(tested.decisions.map(({ step, verdict }) => [step, verdict]))}\n\n${summary(terminal, tested, event)}`);
      if (!tested.allowed) throw new Exit(1);
    });

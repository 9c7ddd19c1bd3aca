import { Command, InvalidArgumentError } from 'commander';
import { ConfigError } from '../core/errors.ts';
import { bodyOf, exportFormats, exportSession, headingOf } from '../sessions/export-session.ts';
import { printCost } from '../lib/print-usd.ts';
import { printable } from '../lib/printable.ts';
import { searchMessages } from '../store/sessions/search.ts';
import { listSessions } from '../store/sessions/sessions.ts';
import type { Session } from '../store/sessions/sessions.ts';
import { newestSaid } from '../store/sessions/transcripts.ts';
import type { StoredMessage } from '../store/sessions/transcripts.ts';
import { json, paint, span, table } from './environment.ts';
import type { Terminal } from './environment.ts';
import { oneSession } from './arguments/one-session.ts';
import { lookIntoStore } from './home/open-home.ts';
import { removalCommands } from './remove-sessions.ts';

const count = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 10_000) throw new InvalidArgumentError('a whole number from 1 to 10000');
  return value;
};

const titleOf = (session: Session): string => session.title ?? '';

const printList = (terminal: Terminal, sessions: readonly Session[]): string => {
  if (sessions.length === 0) return 'There are no sessions yet.\n';
  const rows = sessions.map((session) => [
    session.id,
    session.agent,
    session.account,
    session.chatType,
    String(session.messageCount),
    session.usage.cost === undefined ? '-' : printCost(session.usage.cost),
    `${span(Date.now() - session.activeAtMs)} ago`,
    `${session.endReason === null ? '' : paint(terminal, 'dim', `(${session.endReason}) `)}${titleOf(session)}`,
  ]);
  return `${table([['SESSION', 'AGENT', 'ACCOUNT', 'CHAT', 'MESSAGES', 'COST', 'ACTIVE', 'TITLE'], ...rows])}\n`;
};

const printMessages = (terminal: Terminal, messages: readonly StoredMessage[]): string =>
  messages.map(({ message, createdAtMs }) => `${paint(terminal, 'bold', printable(headingOf(message)))} ${paint(terminal, 'dim', new Date(createdAtMs).toISOString())}\n${printable(bodyOf(message))}\n`).join('\n');

const writeExport = async (terminal: Terminal, name: string, wanted: string): Promise<void> => {
  const format = exportFormats.find((known) => known === wanted);
  if (format === undefined) throw new ConfigError(`--format is one of ${exportFormats.join(', ')}, not ${wanted}`);
  await lookIntoStore(terminal, async (store) => {
    for await (const piece of exportSession(store, await oneSession(store, name), format)) terminal.write(piece);
  });
};

const show = (terminal: Terminal, name: string, flags: { limit: number; json?: true }): Promise<void> =>
  lookIntoStore(terminal, async (store) => {
    const session = await oneSession(store, name);
    const messages = (await store.read((db) => newestSaid(db, session.id, flags.limit))).toReversed();
    if (flags.json === true) terminal.write(json({ session, messages }));
    else terminal.write(`${printList(terminal, [session])}\n${printMessages(terminal, messages)}`);
  });

const search = (terminal: Terminal, words: readonly string[], flags: { limit: number; json?: true }): Promise<void> =>
  lookIntoStore(terminal, async (store) => {
    const hits = await searchMessages(store, { text: words.join(' '), limit: flags.limit });
    if (flags.json === true) terminal.write(json(hits));
    else if (hits.length === 0) terminal.write('Nothing was found.\n');
    else terminal.write(`${table(hits.map((hit) => [hit.sessionId, hit.role, new Date(hit.createdAtMs).toISOString().slice(0, 16), hit.snippet]))}\n`);
  });

export const sessionsCommand = (terminal: Terminal): Command => {
  const command = new Command('sessions').description('List, show, search, export and remove conversations').addHelpText('after', '\nExamples:\n  hermes sessions list\n  hermes sessions search invoice march\n  hermes sessions export 20261115_100500_1a2b3c4d > talk.md');
  command
    .command('list')
    .description('The newest conversations')
    .option('--limit <n>', 'how many', count, 20)
    .option('--account <name>', 'only of this account')
    .option('--agent <id>', 'only of this agent')
    .option('--json', 'print JSON')
    .action((flags: { limit: number; account?: string; agent?: string; json?: true }) =>
      lookIntoStore(terminal, async (store) => {
        const sessions = await store.read((db) => listSessions(db, { limit: flags.limit, ...(flags.account !== undefined && { account: flags.account }), ...(flags.agent !== undefined && { agent: flags.agent }) }));
        terminal.write(flags.json === true ? json(sessions) : printList(terminal, sessions));
      }),
    );
  command.command('show').description('One conversation and its newest messages').argument('<session>', 'id, start of an id, or title').option('--limit <n>', 'how many messages', count, 20).option('--json', 'print JSON').action((name: string, flags: { limit: number; json?: true }) => show(terminal, name, flags));
  command.command('search').description('Find messages by words, in any script').argument('<words...>').option('--limit <n>', 'how many', count, 20).option('--json', 'print JSON').action((words: string[], flags: { limit: number; json?: true }) => search(terminal, words, flags));
  command
    .command('export')
    .description('A whole conversation on standard output')
    .argument('<session>', 'id, start of an id, or title')
    .option('--format <format>', exportFormats.join(', '), 'markdown')
    .action((name: string, flags: { format: string }) => writeExport(terminal, name, flags.format));
  for (const removal of removalCommands(terminal)) command.addCommand(removal.exitOverride());
  return command;
};

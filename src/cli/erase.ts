import { readdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Command } from 'commander';
import { eraseFiles } from '../portability/person/person-files.ts';
import { scrub } from '../store/copies/scrub.ts';
import { erasePerson } from '../store/person/erase-person.ts';
import type { ErasedRows } from '../store/person/erase-person.ts';
import type { Person } from '../store/person/find-person.ts';
import { readPersonFacts } from '../store/person/read-person.ts';
import { lookUpPerson, printOf, readPerson, strangeAccount } from './arguments/person.ts';
import type { FoundPerson } from './arguments/person.ts';
import { requireConfig } from './configuration/settings.ts';
import type { Config } from './configuration/settings.ts';
import { json, paint, refuse } from './environment.ts';
import type { Terminal } from './environment.ts';
import { lookIntoStore } from './home/open-home.ts';
import { noteAct } from './note-act.ts';

interface EraseFlags {
  readonly person: Person;
  readonly yes?: true;
  readonly json?: true;
}

/** What this program cannot reach, or cannot tell from what belongs to others. */
const beyondReach = async ({ person, home, agentHomes, data }: FoundPerson, config: Config): Promise<readonly string[]> => {
  const backups = existsSync(join(home, 'backups')) ? (await readdir(join(home, 'backups'))).filter((name) => /\.(?:db|tar\.gz)$|^replaced-|^\.partial-/.test(name)) : [];
  const notes = agentHomes.flatMap((folder) => ['MEMORY.md', 'USER.md'].map((name) => join(folder, 'memories', name))).filter((path) => existsSync(path));
  const account = config.accounts.find((each) => each.account === person.account);
  const isListed = [...(account?.common.allowed_users ?? []), ...config.sections.access.allowed_users].includes(person.userId);
  return [
    ...(isListed ? ['config.yaml or .env still lets this id in: take it out of allowed_users'] : []),
    ...(backups.length === 0 ? [] : [`backups made before: ${backups.map((name) => join('backups', name)).join(', ')}`]),
    ...notes.map((path) => `${relative(home, path)}: notes about everybody; look through it yourself`),
    ...(data.shared.length === 0 ? [] : ['answers and summaries in shared conversations that speak of what they said']),
    'what others have said about them in words of their own',
    ...(config.sections.memory.provider === 'none' ? [] : [`what the memory server (${config.sections.memory.provider}) keeps`]),
    'what their platform and the model providers keep, backups elsewhere, ids (and words, with HERMES_LOG_LEVEL=debug) in logs/ until those are replaced, and ids in logs/audit.log for good',
  ];
};

/** What would go, in numbers. */
const preview = ({ data, files }: FoundPerson, facts: Awaited<ReturnType<typeof readPersonFacts>>): ErasedRows => {
  const all = {
    conversations: data.sessionIds.length,
    'messages in shared conversations': data.shared.length,
    arrivals: data.inboxIds.length,
    'direct chats': data.chatIds.length,
    jobs: data.jobIds.length,
    pairings: facts.pairings.length,
    'pairing requests': facts.pairingRequests.length,
    denials: facts.denials.length,
    questions: facts.questions.length,
    'memory proposals': facts.memoryProposals.length,
    'files they sent': files.media.length,
    'files made for them': files.outgoing.length,
    profiles: files.memories.length,
  };
  return Object.fromEntries(Object.entries(all).filter(([, count]) => count > 0));
};

const listed = (rows: ErasedRows): string => Object.entries(rows).map(([name, count]) => `  ${String(count).padStart(6)}  ${name}`).join('\n');

const isAny = (rows: ErasedRows): boolean => Object.keys(rows).length > 0;

interface Told {
  readonly who: string;
  readonly rows: ErasedRows;
  readonly beyond: readonly string[];
  readonly erased: boolean;
  /** False while a file still holds what is erased. */
  readonly overwritten: boolean;
}

/** Long enough for every read but those of somebody who holds the database open in a transaction. */
const patienceMs = 10_000;

const notOverwritten = 'Another program is reading the database (a backup, say), so gateway.db-wal still holds what was erased. The gateway takes it out as soon as that program is done; without a gateway it is gone when the last program closes the database.';

const printed = (terminal: Terminal, told: Told): string => {
  const head = told.erased ? `Everything of ${told.who} is erased:` : `This is kept of ${told.who} and would be erased:`;
  const lines = [
    paint(terminal, 'bold', head),
    listed(told.rows),
    ...(told.overwritten ? [] : [paint(terminal, 'red', notOverwritten)]),
    'Not within reach:',
    ...told.beyond.map((line) => `  ${line}`),
    ...(told.erased ? [] : ['', 'Nothing is erased yet. hermes export --person saves it first; --yes erases it for good.']),
  ];
  return `${lines.join('\n')}\n`;
};

const run = async (terminal: Terminal, flags: EraseFlags): Promise<void> => {
  const { person } = flags;
  const config = await requireConfig(terminal);
  await lookIntoStore(terminal, async (store) => {
    const found = await lookUpPerson(terminal, store, { config, person });
    const before = preview(found, await store.read((db) => readPersonFacts(db, person, found.data)));
    const beyond = await beyondReach(found, config);
    const erased = flags.yes === true;
    let rows = before;
    let overwritten = true;
    if (erased) {
      await eraseFiles(store, found.files);
      rows = { ...before, ...(await erasePerson(store, person, found.data)) };
      overwritten = await scrub(store, patienceMs);
      if (isAny(rows)) noteAct(found.home, 'erase', `person ${printOf(person)}: ${Object.entries(rows).map(([name, count]) => `${count} ${name}`).join(', ')}`);
    }
    if (flags.json === true) terminal.write(json({ person, erased, rows, overwritten, beyondReach: beyond }));
    const who = `${person.account}:${person.userId}`;
    if (!isAny(rows)) return refuse(terminal, [`Nothing is kept of ${who}${erased ? ', so nothing was erased' : ''}.`, ...strangeAccount(config, person.account)].join(' '));
    if (flags.json !== true) terminal.write(printed(terminal, { who, rows, beyond, erased, overwritten }));
  });
};

export const eraseCommand = (terminal: Terminal): Command =>
  new Command('erase')
    .description('Erase everything of one person; says first what that is')
    .requiredOption('--person <account:id>', 'whom', readPerson)
    .option('--yes', 'do it')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  hermes erase --person telegram:1001\n  hermes erase --person telegram:1001 --yes')
    .action((flags: EraseFlags) => run(terminal, flags));

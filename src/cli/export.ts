import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { Command } from 'commander';
import { resolveHome } from '../config/home.ts';
import { ConfigError } from '../core/errors.ts';
import { systemClock } from '../lib/clock.ts';
import { exportAsText, exportToFolder, writePieces } from '../portability/export-sessions.ts';
import { packFolder } from '../portability/pack-folder.ts';
import { exportPerson } from '../portability/person/export-person.ts';
import { agentIds } from '../routing/select-agent.ts';
import { exportFormats } from '../sessions/export-session.ts';
import type { ExportFormat } from '../sessions/export-session.ts';
import type { Person } from '../store/person/find-person.ts';
import { readPersonFacts } from '../store/person/read-person.ts';
import { pageOfSessionIds } from '../store/sessions/session-ids.ts';
import type { SessionScope } from '../store/sessions/session-ids.ts';
import { findSession } from '../store/sessions/sessions.ts';
import type { Session } from '../store/sessions/sessions.ts';
import type { Store } from '../store/store.ts';
import { lookUpPerson, printOf, readPerson, strangeAccount } from './arguments/person.ts';
import type { FoundPerson } from './arguments/person.ts';
import { requireConfig } from './configuration/settings.ts';
import type { Config } from './configuration/settings.ts';
import { json, refuse } from './environment.ts';
import type { Terminal } from './environment.ts';
import { lookIntoStore } from './home/open-home.ts';
import { noteAct } from './note-act.ts';

interface ExportFlags extends SessionScope {
  readonly person?: Person;
  readonly format?: string;
  readonly to?: string;
  readonly force?: true;
  readonly json?: true;
}

const pageSize = 200;

async function* everySession(store: Store, scope: SessionScope): AsyncGenerator<Session> {
  for (let afterId = '', more = true; more; ) {
    const ids = await store.read((db) => pageOfSessionIds(db, scope, { afterId, limit: pageSize }));
    for (const id of ids) {
      const session = await store.read((db) => findSession(db, id));
      if (session !== undefined) yield session;
    }
    afterId = ids.at(-1) ?? afterId;
    more = ids.length === pageSize;
  }
}

const fileFormats: Readonly<Record<string, ExportFormat>> = { '.md': 'markdown', '.markdown': 'markdown', '.jsonl': 'jsonl', '.json': 'json' };

const formatOf = (wanted: string | undefined, path: string | undefined): ExportFormat => {
  if (wanted === undefined) return fileFormats[extname(path ?? '')] ?? 'markdown';
  const format = exportFormats.find((known) => known === wanted);
  if (format === undefined) throw new ConfigError(`--format is one of ${exportFormats.join(', ')}, not ${wanted}`);
  return format;
};

/** A file that is there is only replaced when that was said; a folder has to be new or empty. */
const requireRoom = async (path: string, { isFile, force }: { readonly isFile: boolean; readonly force: boolean }): Promise<void> => {
  if (!existsSync(path)) return;
  const isFolder = (await stat(path)).isDirectory();
  if (isFile && isFolder) throw new ConfigError(`${path} is a folder. Name another file.`);
  if (isFile && !force) throw new ConfigError(`${path} is there already. Name another file, or replace it with --force.`);
  if (!isFile && (!isFolder || (await readdir(path)).length > 0)) throw new ConfigError(`${path} is not an empty folder. Name another.`);
};

/** Whose conversations leave. */
const scopeText = ({ agent, account }: SessionScope): string => [agent === undefined && account === undefined ? 'all conversations' : 'conversations', ...(agent === undefined ? [] : [`of the agent ${agent}`]), ...(account === undefined ? [] : [`of ${account}`])].join(' ');

/** Undefined for standard output. */
const destinationOf = ({ to }: ExportFlags): string | undefined => (to === undefined || to === '-' ? undefined : resolve(to));

/** Why there is nothing to export, once none was found. */
const nothingOf = (config: Config, { agent, account }: SessionScope): string => {
  const { agents } = config.sections;
  if (agent !== undefined && !agentIds({ agents }).includes(agent)) return `There is no agent ${agent}, and no conversation of one. Agents: ${agentIds({ agents }).join(', ')}.`;
  return [`There are no ${scopeText({ agent, account })}.`, ...(account === undefined ? [] : strangeAccount(config, account))].join(' ');
};

const told = (terminal: Terminal, flags: ExportFlags, facts: { readonly path: string } & Readonly<Record<string, unknown>>, words: string): void =>
  terminal.write(flags.json === true ? json(facts) : `${facts.path}\n${words}`);

const exportSessions = async (terminal: Terminal, flags: ExportFlags): Promise<void> => {
  const path = destinationOf(flags);
  if (path === undefined && flags.json === true) throw new ConfigError('--json says what was written: name a file or a folder with --to. For conversations as JSON there is --format json.');
  const format = formatOf(flags.format, path);
  const isFile = path !== undefined && fileFormats[extname(path)] !== undefined;
  const scope = { agent: flags.agent, account: flags.account };
  await lookIntoStore(terminal, async (store) => {
    const [first] = await store.read((db) => pageOfSessionIds(db, scope, { afterId: '', limit: 1 }));
    if (first === undefined && (scope.agent !== undefined || scope.account !== undefined)) refuse(terminal, nothingOf(await requireConfig(terminal), scope));
    if (path !== undefined) await requireRoom(path, { isFile, force: flags.force === true });
    const sessions = everySession(store, scope);
    if (path === undefined) {
      for await (const piece of exportAsText(store, sessions, format)) terminal.write(piece);
    } else if (isFile) {
      await writePieces(path, exportAsText(store, sessions, format));
      told(terminal, flags, { path, format }, '');
    } else {
      const conversations = await exportToFolder(store, sessions, { folder: path, formats: [format] });
      told(terminal, flags, { path, format, conversations }, `Conversations: ${conversations}\n`);
    }
    noteAct(resolveHome(terminal.env), 'export', `${scopeText(flags)} to ${path ?? 'standard output'}`);
  });
};

/** Whether anything at all is kept of somebody. */
const isKnown = async (store: Store, { person, data, files }: FoundPerson): Promise<boolean> => {
  const facts = await store.read((db) => readPersonFacts(db, person, data));
  return [data.sessionIds, data.shared, data.inboxIds, data.jobIds, files.media, files.outgoing, files.memories, ...Object.values(facts)].some((list) => list.length > 0);
};

const exportOne = async (terminal: Terminal, person: Person, flags: ExportFlags): Promise<void> => {
  if (flags.to === '-') throw new ConfigError('Everything of a person is several files: name a folder or a .tar.gz with --to.');
  const path = resolve(flags.to ?? `hermes-${`${person.account}-${person.userId}`.replaceAll(/[^A-Za-z0-9_-]+/g, '_')}`);
  const isArchive = /\.(?:tar\.gz|tgz)$/.test(path);
  const config = await requireConfig(terminal);
  await lookIntoStore(terminal, async (store) => {
    const found = await lookUpPerson(terminal, store, { config, person });
    if (!(await isKnown(store, found))) refuse(terminal, [`Nothing is kept of ${person.account}:${person.userId}, so nothing was written.`, ...strangeAccount(config, person.account)].join(' '));
    await requireRoom(path, { isFile: isArchive, force: flags.force === true });
    const folder = isArchive ? await mkdtemp(join(tmpdir(), 'hermes-export-')) : path;
    try {
      await exportPerson(store, person, { ...found, folder, nowMs: systemClock.now() });
      if (isArchive) await packFolder(folder, path);
    } finally {
      if (isArchive) await rm(folder, { recursive: true });
    }
    const { data, files } = found;
    noteAct(found.home, 'export', `person ${printOf(person)} to ${path}`);
    const counts = { conversations: data.sessionIds.length, shared: data.shared.length, files: files.media.length + files.outgoing.length, profiles: files.memories.length };
    told(terminal, flags, { path, ...counts }, `Conversations: ${counts.conversations}, messages in shared ones: ${counts.shared}, files: ${counts.files}, profiles: ${counts.profiles}\n`);
  });
};

export const exportCommand = (terminal: Terminal): Command =>
  new Command('export')
    .description('Conversations as readable text or data; everything of one person')
    .option('--person <account:id>', 'everything that is kept of this person', readPerson)
    .option('--agent <id>', 'only conversations of this agent')
    .option('--account <name>', 'only conversations of this account')
    .option('--format <format>', exportFormats.join(', '))
    .option('--to <path>', 'a file (.md, .jsonl, .json; .tar.gz for a person) or a new folder; standard output when it is - or left out, for a person a new folder here')
    .option('--force', 'replace a file that is there')
    .option('--json', 'print what was written as JSON')
    .addHelpText('after', '\nExamples:\n  hermes export --to everything/\n  hermes export --agent support --to support.jsonl\n  hermes export --person telegram:1001 --to ann.tar.gz')
    .action((flags: ExportFlags) => (flags.person === undefined ? exportSessions(terminal, flags) : exportOne(terminal, flags.person, flags)));

import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { Command } from 'commander';
import { ConfigError } from '../core/errors.ts';
import { systemClock } from '../lib/clock.ts';
import { exportAsText, exportToFolder, writePieces } from '../portability/export-sessions.ts';
import { packFolder } from '../portability/pack-folder.ts';
import { exportPerson } from '../portability/person/export-person.ts';
import { exportFormats } from '../sessions/export-session.ts';
import type { ExportFormat } from '../sessions/export-session.ts';
import type { Person } from '../store/person/find-person.ts';
import { pageOfSessionIds } from '../store/session-ids.ts';
import type { SessionScope } from '../store/session-ids.ts';
import { findSession } from '../store/sessions.ts';
import type { Session } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import type { Terminal } from './environment.ts';
import { noteAct } from './note-act.ts';
import { withStore } from './open-home.ts';
import { lookUpPerson, printOf, readPerson } from './person.ts';
import { requireConfig } from './settings.ts';

interface ExportFlags extends SessionScope {
  readonly person?: Person;
  readonly format?: string;
  readonly to?: string;
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

/** A folder that is not there yet, or has nothing in it. */
const requireEmpty = async (folder: string): Promise<void> => {
  if (existsSync(folder) && (!(await stat(folder)).isDirectory() || (await readdir(folder)).length > 0)) throw new ConfigError(`${folder} is not an empty folder. Name another.`);
};

const exportSessions = (terminal: Terminal, flags: ExportFlags): Promise<void> =>
  withStore(terminal, async (store) => {
    const path = flags.to === undefined ? undefined : resolve(flags.to);
    const format = formatOf(flags.format, path);
    const sessions = everySession(store, { agent: flags.agent, account: flags.account });
    if (path === undefined) {
      for await (const piece of exportAsText(store, sessions, format)) terminal.write(piece);
    } else if (fileFormats[extname(path)] !== undefined) {
      await writePieces(path, exportAsText(store, sessions, format));
      terminal.write(`${path}\n`);
    } else {
      await requireEmpty(path);
      terminal.write(`${path}\nConversations: ${await exportToFolder(store, sessions, { folder: path, formats: [format] })}\n`);
    }
  });

const exportOne = async (terminal: Terminal, person: Person, flags: ExportFlags): Promise<void> => {
  const path = resolve(flags.to ?? `hermes-${`${person.account}-${person.userId}`.replaceAll(/[^A-Za-z0-9_-]+/g, '_')}`);
  const isArchive = /\.(?:tar\.gz|tgz)$/.test(path);
  if (!isArchive) await requireEmpty(path);
  const folder = isArchive ? await mkdtemp(join(tmpdir(), 'hermes-export-')) : path;
  try {
    const config = await requireConfig(terminal);
    await withStore(terminal, async (store) => {
      const found = await lookUpPerson(terminal, store, { config, person });
      await exportPerson(store, person, { ...found, folder, nowMs: systemClock.now() });
      if (isArchive) await packFolder(folder, path);
      const { data, files } = found;
      noteAct(found.home, 'export', `person ${printOf(person)} to ${path}`);
      terminal.write(`${path}\nConversations: ${data.sessionIds.length}, messages in shared ones: ${data.shared.length}, files: ${files.media.length}, profiles: ${files.memories.length}\n`);
    });
  } finally {
    if (isArchive) await rm(folder, { recursive: true });
  }
};

export const exportCommand = (terminal: Terminal): Command =>
  new Command('export')
    .description('Conversations as readable text or data; everything of one person')
    .option('--person <account:id>', 'everything that is kept of this person', readPerson)
    .option('--agent <id>', 'only conversations of this agent')
    .option('--account <name>', 'only conversations of this account')
    .option('--format <format>', exportFormats.join(', '))
    .option('--to <path>', 'a file (.md, .jsonl, .json; .tar.gz for a person) or a folder; standard output when it is left out')
    .addHelpText('after', '\nExamples:\n  hermes export --to everything/\n  hermes export --agent support --to support.jsonl\n  hermes export --person telegram:1001 --to ann.tar.gz')
    .action((flags: ExportFlags) => (flags.person === undefined ? exportSessions(terminal, flags) : exportOne(terminal, flags.person, flags)));

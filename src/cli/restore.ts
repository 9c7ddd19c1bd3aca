import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { prepareHome, resolveHome } from '../config/home.ts';
import { ConfigError, StoreError } from '../core/errors.ts';
import { systemClock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import { partOf } from '../portability/backup-contents.ts';
import { readBackup } from '../portability/read-backup.ts';
import type { Restorable } from '../portability/read-backup.ts';
import { isMerged, restoreBackup } from '../portability/restore-backup.ts';
import type { Restored } from '../portability/restore-backup.ts';
import { unloadedNote } from '../store/copies/half-restored.ts';
import { schemaVersion } from '../store/migrations.ts';
import { openStore } from '../store/open.ts';
import { reindexMessages } from '../store/copies/reindex-messages.ts';
import { json, paint } from './environment.ts';
import type { Terminal } from './environment.ts';
import { isHomeTaken } from '../store/locks/home-lock.ts';
import { finishInterrupted } from './home/finish-interrupted.ts';
import { refuseInside } from './gateway/inside-turn.ts';
import { interruptible } from './process/interruptible.ts';
import { noteAct } from './note-act.ts';
import { storePath } from './home/open-home.ts';
import { readConfig } from './configuration/settings.ts';

interface RestoreFlags {
  readonly into?: string;
  readonly check?: true;
  readonly yes?: true;
  readonly dropOpen?: true;
  readonly loadDatabase?: true;
  readonly json?: true;
}

const partsOf = (manifest: Restorable): readonly string[] => [...new Set(manifest.files.map(({ path }) => partOf(path)))].toSorted();

const about = ({ createdAt, version, files, schemaVersion: schema, secrets }: Restorable): string => {
  if (version === undefined) return `A copy of the database with schema ${schema}, made ${createdAt}.`;
  return `Made ${createdAt} by hermes ${version}: ${files.length} files, ${schema === undefined ? 'no database' : `database with schema ${schema}`}${secrets ? '' : ', no secrets'}.`;
};

const check = async (terminal: Terminal, file: string, flags: RestoreFlags): Promise<void> => {
  const manifest = await readBackup(file);
  if (flags.json === true) terminal.write(json({ ok: true, ...manifest }));
  else terminal.write(`${paint(terminal, 'green', 'The backup is whole.')} ${about(manifest)}\n`);
};

const openLines = ({ open }: Restored, dropped: boolean): readonly string[] => {
  if (open === undefined || open.messages + open.deliveries === 0) return [];
  const what = `Open at that time: messages ${open.messages}, deliveries ${open.deliveries}.`;
  if (dropped) return [`${what} They were let go of.`];
  return [`${what} They are taken up when the gateway starts. If they were settled after the backup was made, restore again with --drop-open.`];
};

/** Where the restored home keeps its data: a PostgreSQL database, if it names one. */
const databaseOf = async (terminal: Terminal, home: string): Promise<string | undefined> => {
  const config = await readConfig({ ...terminal, env: { ...terminal.env, HERMES_HOME: home } });
  return config.ok ? config.sections.store.database_url : undefined;
};

/** Puts the restored file into an empty PostgreSQL database; opening that gives it its tables. */
const loadDatabase = async (home: string, databaseUrl: string): Promise<void> => {
  const store = await openStore({ databaseUrl, path: storePath(home), clock: systemClock, log: silentLogger, checkIntegrity: false, loads: true });
  try {
    const { loadIntoPostgres } = await import('../store/copies/transfer.ts');
    await loadIntoPostgres(storePath(home), databaseUrl);
    await reindexMessages(store);
  } finally {
    await store.close();
  }
};

/** What to say about the database of a home that uses a server. */
const aboutServer = async (terminal: Terminal, home: string, restored: Restored, flags: RestoreFlags): Promise<string | undefined> => {
  const url = await databaseOf(terminal, home);
  if (flags.loadDatabase !== true) return url === undefined || restored.open === undefined ? undefined : 'This home uses a PostgreSQL database, which is as it was: gateway.db is not looked at. --load-database puts it into an empty one.';
  if (url === undefined) throw new ConfigError(`${home} is restored, but its configuration names no PostgreSQL database (store.database_url or DATABASE_URL), so nothing was loaded.`);
  if (restored.open === undefined) throw new ConfigError(`${home} is restored, but there is no database in the backup, so nothing was loaded.`);
  try {
    await loadDatabase(home, url);
  } catch (error) {
    if (error instanceof StoreError) throw new StoreError(error.code, `The files are restored to ${home}, but the data is not loaded. ${error.message}`, { cause: error });
    throw error;
  }
  return 'The database is loaded into PostgreSQL.';
};

const printed = (terminal: Terminal, home: string, restored: Restored, told: { readonly flags: RestoreFlags; readonly server: string | undefined }): string => {
  const { manifest, parts, aside } = restored;
  const { flags, server } = told;
  const lines = [
    `${paint(terminal, 'green', `${home} is restored.`)} ${about(manifest)}`,
    `From the backup: ${parts.join(', ')}`,
    ...(aside === undefined ? [] : [`What was there before is in ${aside}`]),
    ...(manifest.schemaVersion !== undefined && manifest.schemaVersion < schemaVersion ? [`The database was brought from schema ${manifest.schemaVersion} to ${schemaVersion}.`] : []),
    ...(server === undefined ? [] : [server]),
    ...(manifest.secrets ? [] : ['Credentials are not part of it; hermes setup and hermes config set put them into .env.']),
    ...openLines(restored, flags.dropOpen === true),
    `Start it with: hermes gateway run${flags.into === undefined ? '' : ` (HERMES_HOME=${home})`}`,
  ];
  return `${lines.join('\n')}\n`;
};

const run = async (terminal: Terminal, given: string, flags: RestoreFlags): Promise<void> => {
  const file = resolve(given);
  if (flags.check === true) return check(terminal, file, flags);
  const home = flags.into === undefined ? resolveHome(terminal.env) : resolve(flags.into);
  refuseInside(terminal, home, 'hermes restore');
  if (isHomeTaken(home)) throw new ConfigError(`A gateway is running in ${home}, or an open terminal chat hosts one. End it first; a backup cannot take the place of what is in use.`);
  await finishInterrupted(terminal, home);
  const manifest = await readBackup(file);
  const replaced = partsOf(manifest).filter((part) => !isMerged(part) && existsSync(join(home, part)));
  if (replaced.length > 0 && flags.yes !== true) throw new ConfigError(`The backup is whole. ${about(manifest)}\nIt would replace these in ${home}, which are kept aside: ${replaced.join(', ')}\nAdd --yes to do it, or --into <folder> for another home.`);
  await prepareHome(home);
  const restored = await interruptible((signal) => restoreBackup({ file, home, clock: systemClock, dropOpen: flags.dropOpen === true, loadsDatabase: flags.loadDatabase === true, signal }));
  noteAct(home, 'restore', `${file} of ${restored.manifest.createdAt}`);
  // Whoever sees that it has failed knows what to do; the note is for those who see nothing.
  const server = await aboutServer(terminal, home, restored, flags).finally(() => rm(unloadedNote(home), { force: true }));
  if (flags.json === true) terminal.write(json({ home, parts: restored.parts, aside: restored.aside ?? null, open: restored.open ?? null, version: restored.manifest.version ?? null, createdAt: restored.manifest.createdAt }));
  else terminal.write(printed(terminal, home, restored, { flags, server }));
};

export const restoreCommand = (terminal: Terminal): Command =>
  new Command('restore')
    .description('Put a backup in the place of what is in the home; no gateway may be running there')
    .argument('<file>', 'made by hermes backup, or a copy that was made before an upgrade (backups/gateway-schema-….db)')
    .option('--into <home>', 'another home folder, made when it is not there')
    .option('--check', 'only see whether the backup is whole')
    .option('--drop-open', 'let go of what was unanswered or undelivered when the backup was made')
    .option('--load-database', 'also put the data into the PostgreSQL database that the restored configuration names, which has to be empty')
    .option('--yes', 'replace what is there; it is kept aside')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  hermes restore hermes.tar.gz --check\n  hermes restore hermes.tar.gz --yes\n  hermes restore hermes.tar.gz --into /srv/hermes')
    .action((file: string, flags: RestoreFlags) => run(terminal, file, flags));

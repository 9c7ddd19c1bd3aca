import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { resolveHome } from '../config/home.ts';
import { configFiles } from '../config/load-config.ts';
import { formatProblem } from '../config/problem.ts';
import { stripSecrets } from '../config/secrets/strip-secrets.ts';
import { ConfigError } from '../core/errors.ts';
import { systemClock } from '../lib/clock.ts';
import { keepNewest } from '../lib/keep-newest.ts';
import { platforms } from '../platforms/registry.ts';
import { backupName } from '../portability/backup-contents.ts';
import { writeBackup } from '../portability/write-backup.ts';
import type { Backup, BackupProgress } from '../portability/write-backup.ts';
import { readConfig, sections } from './configuration/settings.ts';
import { Exit, json, paint } from './environment.ts';
import type { Terminal } from './environment.ts';
import { storePath } from './home/open-home.ts';
import { noteAct } from './note-act.ts';
import { interruptible } from './process/interruptible.ts';

interface BackupFlags {
  readonly secrets: boolean;
  readonly mediaMb: number;
  readonly workspace?: true;
  readonly keep?: number;
  readonly force?: true;
  readonly json?: true;
}

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError('a whole number');
  return value;
};

export const megabytes = (bytes: number): string => (bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / (1024 * 1024)).toFixed(1)} MB`);

/** One line that is written over again, where somebody looks. */
const progressLine = (terminal: Terminal): { show(progress: BackupProgress): void; end(): void } => {
  let shown = '';
  const isSeen = terminal.stream?.isTTY === true;
  return {
    show({ step, done, total }) {
      const line = `${step === 'database' ? 'Copying the database' : 'Packing files'} ${total === 0 ? 100 : Math.floor((done / total) * 100)} %`;
      if (isSeen && line !== shown) terminal.writeError(`\r\x1b[K${line}`);
      shown = line;
    },
    end() {
      if (isSeen && shown !== '') terminal.writeError('\r\x1b[K');
    },
  };
};

const newFileIn = (folder: string): string => join(folder, `hermes-${new Date(systemClock.now()).toISOString().replaceAll(/[-:.]/g, '')}.tar.gz`);

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Where the backup goes, and a refusal if it cannot go there, or if others are to be removed among which it would not count. */
const fileFor = (home: string, given: string | undefined, flags: BackupFlags): string => {
  if (flags.keep === 0) throw new ConfigError('--keep is at least 1.');
  if (given === undefined) return newFileIn(join(home, 'backups'));
  const file = resolve(given);
  if (isFolder(file)) return newFileIn(file);
  if (given.endsWith('/')) throw new ConfigError(`There is no folder ${file} to write the backup to. Make it, or mount what it is on.`, { mayPass: true });
  if (flags.keep !== undefined) throw new ConfigError(`${file} is no folder, and --keep removes older ones in a folder, by the names that hermes gives them. Name a folder that is there, or leave --keep out.`);
  if (flags.force !== true && existsSync(file)) throw new ConfigError(`${file} is there already. Name another file, or replace it with --force.`);
  if (!existsSync(dirname(file))) throw new ConfigError(`There is no folder ${dirname(file)} to write the backup to. Make it, or mount what it is on.`, { mayPass: true });
  return file;
};

/** What stands in the archive in place of config.yaml, and what to say about it. */
const configWithoutSecrets = async (home: string): Promise<{ readonly instead: ReadonlyMap<string, string>; readonly note: string | undefined }> => {
  const text = await readFile(configFiles(home).config, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const stripped = stripSecrets(text, { sections, platforms });
  if (stripped === undefined) return { instead: new Map([['config.yaml', '']]), note: 'config.yaml (cannot be read, so nobody knows whether it holds secrets)' };
  if (stripped.removed.length === 0) return { instead: new Map(), note: undefined };
  return { instead: new Map([['config.yaml', stripped.text]]), note: `secrets in config.yaml: ${stripped.removed.join(', ')}` };
};

const printed = (terminal: Terminal, file: string, backup: Backup & { readonly removed: readonly string[] }): string => {
  const { manifest, leftOut } = backup;
  const lines = [
    `${paint(terminal, 'green', file)}  ${megabytes(backup.sizeBytes)}, ${manifest.files.length} files`,
    ...(manifest.engine === 'postgres' ? ['The rows of the PostgreSQL database are in it as gateway.db; for large ones pg_dump is faster.'] : []),
    ...(manifest.schemaVersion === undefined && !backup.isDamaged ? ['There is no database yet.'] : []),
    ...(leftOut.length === 0 ? [] : ['Not in it:', ...leftOut.map((line) => `  ${line}`)]),
    ...(backup.removed.length === 0 ? [] : [`Older ones removed: ${backup.removed.join(', ')}`]),
    ...(manifest.secrets ? ['It holds secrets and conversations: keep it where only you can read it.'] : ['It holds no credentials of the gateway, but all conversations.']),
  ];
  return `${lines.join('\n')}\n`;
};

const outsideHomes = (home: string, agents: Readonly<Record<string, { readonly home_dir?: string | undefined }>>): readonly string[] =>
  Object.entries(agents).flatMap(([id, { home_dir }]) => (home_dir === undefined || resolve(home, home_dir).startsWith(`${home}/`) ? [] : [`${home_dir} (folder of the agent ${id}, outside of the home)`]));

const run = async (terminal: Terminal, given: string | undefined, flags: BackupFlags): Promise<void> => {
  const home = resolveHome(terminal.env);
  if (!existsSync(home)) throw new ConfigError(`There is nothing to back up: ${home} does not exist.`);
  const file = fileFor(home, given, flags);
  const config = await readConfig(terminal);
  // A broken configuration is no reason not to save what there is.
  if (!config.ok) terminal.writeError(`The configuration cannot be used (${config.problems.map(formatProblem).join('; ')}); it is backed up as it is.\n`);
  const url = config.ok ? config.sections.store.database_url : undefined;
  const { instead, note } = flags.secrets ? { instead: new Map<string, string>(), note: undefined } : await configWithoutSecrets(home);
  const plainAccounts = config.ok ? config.accounts.filter(({ platform }) => platforms.find(({ name }) => name === platform)?.alwaysOn === true).map(({ account }) => account) : [];
  const line = progressLine(terminal);
  const options = {
    home,
    file,
    database: url === undefined ? ({ engine: 'sqlite', path: storePath(home) } as const) : ({ engine: 'postgres', url } as const),
    version: terminal.version,
    clock: systemClock,
    secrets: flags.secrets,
    secretFiles: config.secretFiles,
    mediaBytes: flags.mediaMb * 1024 * 1024,
    workspace: flags.workspace === true,
    instead,
    plainAccounts,
    onProgress: line.show,
  };
  const backup = await interruptible((signal) => writeBackup({ ...options, signal })).finally(line.end);
  // Older ones that are whole are worth more than this one.
  const removed = backup.isDamaged || flags.keep === undefined ? [] : await keepNewest(dirname(file), backupName, flags.keep);
  const leftOut = [...backup.leftOut, ...(note === undefined ? [] : [note]), ...(config.ok ? outsideHomes(home, config.sections.agents) : [])];
  noteAct(home, 'backup', `${file}${flags.secrets ? '' : ' (without secrets)'}`);
  if (flags.json === true) terminal.write(json({ file, sizeBytes: backup.sizeBytes, leftOut, removed, ...backup.manifest, files: backup.manifest.files.length }));
  else terminal.write(printed(terminal, file, { ...backup, leftOut, removed }));
  if (!backup.isDamaged) return;
  terminal.writeError(`${storePath(home)} is damaged. hermes gateway start says how to save what is readable of it; hermes restore takes a backup from before.\n`);
  throw new Exit(1);
};

export const backupCommand = (terminal: Terminal): Command =>
  new Command('backup')
    .description('Everything of this gateway in one file, also while it runs')
    .argument('[file]', 'where to: a file, or a folder for a new one; otherwise the backups folder of the home')
    .option('--no-secrets', 'leave credentials out: .env, logins, secrets in config.yaml')
    .option('--media-mb <n>', 'newest files that people sent, up to so many megabytes', whole, 1024)
    .option('--workspace', 'also the folder where the agent works')
    .option('--keep <n>', 'afterwards remove all but the newest n that hermes has named in that folder', whole)
    .option('--force', 'replace a file that is there')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  hermes backup\n  hermes backup --keep 7\n  hermes backup /mnt/usb --keep 7\n  hermes backup /mnt/usb/hermes.tar.gz --no-secrets')
    .action((file: string | undefined, flags: BackupFlags) => run(terminal, file, flags));

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { resolveHome } from '../config/home.ts';
import { isWithin, newest, withTimeWindow } from './arguments/time-window.ts';
import type { TimeWindow } from './arguments/time-window.ts';
import type { Terminal } from './environment.ts';
import { followLog, readLog } from './gateway/follow-log.ts';
import { logLimits } from './gateway/open-log.ts';
import { readableLine } from './process/console-line.ts';

const levels = ['debug', 'info', 'warn', 'error', 'fatal'] as const;

interface Options extends TimeWindow {
  readonly follow?: true;
  readonly lines?: number;
  readonly account?: string;
  readonly level?: (typeof levels)[number];
  readonly grep?: string;
  readonly json?: true;
}

const count = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError('must be a whole number');
  return value;
};

/** A line that is not JSON was cut off by a crash; it is shown as it is and belongs to nobody. */
const parsed = (line: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    return JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
};

const isWanted = (line: string, options: Options): boolean => {
  const entry = parsed(line);
  if (options.grep !== undefined && !line.toLowerCase().includes(options.grep.toLowerCase())) return false;
  if (options.account !== undefined && entry?.['account'] !== options.account) return false;
  if (!isWithin(entry?.['time'], options)) return false;
  if (options.level === undefined) return true;
  const level = levels.findIndex((name) => name === entry?.['level']);
  return level === -1 || level >= levels.indexOf(options.level);
};

const shown = (terminal: Terminal, line: string, options: Options): string => {
  if (options.json === true || parsed(line) === undefined) return `${line}\n`;
  return readableLine(line, terminal) ?? `${line}\n`;
};

/** A name may be mistyped, and an account may have had nothing to say. */
const tellAccounts = (terminal: Terminal, lines: readonly string[], { account }: Options): void => {
  if (account === undefined) return;
  const accounts = new Set(lines.map((line) => parsed(line)?.['account']).filter((each) => typeof each === 'string'));
  if (!accounts.has(account)) terminal.writeError(`No line of the log is about ${account}. Accounts in it: ${accounts.size === 0 ? 'none' : [...accounts].toSorted().join(', ')}.\n`);
};

const showLogs = async (terminal: Terminal, options: Options): Promise<void> => {
  const folder = join(resolveHome(terminal.env), 'logs');
  const files = { path: join(folder, 'gateway.log'), keep: logLimits.keep };
  const print = (line: string): void => {
    if (isWanted(line, options)) terminal.write(shown(terminal, line, options));
  };
  const lines = await readLog(files);
  if (!existsSync(files.path)) terminal.writeError(`There is no log yet: no gateway has run in ${resolveHome(terminal.env)}.\n`);
  else tellAccounts(terminal, lines, options);
  for (const line of newest(lines.filter((each) => isWanted(each, options)), options)) terminal.write(shown(terminal, line, options));
  if (options.follow !== true) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const end = new AbortController();
  process.once('SIGINT', () => end.abort());
  process.once('SIGTERM', () => end.abort());
  await followLog(files, print, end.signal);
};

export const logsCommand = (terminal: Terminal): Command =>
  withTimeWindow(
    new Command('logs')
      .description('Show what the gateway has written into its log, in the time of this machine')
      .option('-f, --follow', 'go on with what is written from now on')
      .option('-n, --lines <count>', 'how many of the newest lines (default: 50; all with --since or --until)', count)
      .option('--account <name>', 'only lines about this account')
      .addOption(new Option('--level <level>', 'only lines of at least this weight').choices(levels))
      .option('--grep <words>', 'only lines that contain these words'),
  )
    .option('--json', 'print the lines as they stand in the file')
    .addHelpText('after', '\nExamples:\n  hermes logs -f\n  hermes logs -f --account telegram\n  hermes logs -n 200 --level warn\n  hermes logs --since 2h --level error\n  hermes logs --since 2026-11-15T10:00 --until 2026-11-15T11:00\n  hermes logs --grep in_42 --json')
    .action((options: Options) => showLogs(terminal, options));

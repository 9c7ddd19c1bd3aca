import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { resolveHome } from '../config/home.ts';
import { ConfigError } from '../core/errors.ts';
import { auditObstacle, readActs } from '../lib/audit-log.ts';
import { localTime } from '../lib/local-time.ts';
import { isBounded, isWithin, newest, withTimeWindow } from './arguments/time-window.ts';
import type { TimeWindow } from './arguments/time-window.ts';
import { json, table } from './environment.ts';
import type { Terminal } from './environment.ts';
import { requireHome } from './home/require-home.ts';
import { writeDown } from './note-act.ts';

/** Commands that change who may do what, or what the gateway is; and how many of their arguments may be written down. Those that may end without having changed anything write themselves down (`noteAct`). */
const audited: Readonly<Record<string, number>> = {
  'access allow': 2,
  'access deny': 2,
  'agent add': 1,
  'agent remove': 1,
  'api keys create': 1,
  'api keys revoke': 1,
  'api keys rotate': 1,
  'config set': 1,
  login: 0,
  'pairing approve': 1,
  'pairing clear-pending': 0,
  'pairing revoke': 2,
  setup: 0,
  'webhook add': 1,
  'webhook remove': 1,
};

const pathOf = (command: Command): string => {
  const above = command.parent;
  return above === null || above.parent === null ? command.name() : `${pathOf(above)} ${command.name()}`;
};

/** Refuses a command that matters while it cannot be written down, before it has done anything. */
export const requireAuditLog = (terminal: Terminal, command: Command): void => {
  if (audited[pathOf(command)] === undefined) return;
  const home = resolveHome(terminal.env);
  const obstacle = auditObstacle(home);
  if (obstacle !== undefined) throw new ConfigError(`Nothing was changed, for it could not be written to ${join(home, 'logs', 'audit.log')} (${obstacle}). Let the owner of the home write a file there, then try again.`);
};

/** Writes down a command that has been carried out, if it is one that matters. */
export const auditCommand = (terminal: Terminal, command: Command): void => {
  const act = pathOf(command);
  const words = audited[act];
  if (words === undefined) return;
  const subject = command.args.slice(0, words).join(' ');
  writeDown(resolveHome(terminal.env), act, subject === '' ? undefined : subject);
};

const count = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('must be a whole number above 0');
  return value;
};

interface AuditFlags extends TimeWindow {
  readonly lines?: number;
  readonly json?: true;
}

export const auditLogCommand = (terminal: Terminal): Command =>
  withTimeWindow(new Command('audit').description('Show who changed what: access, keys, settings, restarts, backups').option('-n, --lines <count>', 'how many of the newest (default: 50; all with --since or --until)', count))
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  hermes audit\n  hermes audit --since 7d\n  hermes audit -n 500 --json')
    .action((flags: AuditFlags) => {
      requireHome(terminal);
      const acts = newest(readActs(resolveHome(terminal.env)).filter(({ at }) => isWithin(at, flags)), flags);
      if (flags.json === true) return terminal.write(json(acts));
      if (acts.length === 0) return terminal.write(isBounded(flags) ? 'Nothing was changed in that time.\n' : 'Nothing has been changed yet.\n');
      return terminal.write(`${table(acts.map(({ at, by, act, subject }) => [localTime(Date.parse(at)), by, act, subject ?? '']))}\n`);
    });

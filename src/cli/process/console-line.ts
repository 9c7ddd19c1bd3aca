import { fstatSync } from 'node:fs';
import { localTime } from '../../lib/local-time.ts';
import { printable } from '../../lib/printable.ts';
import type { Terminal } from '../environment.ts';
import { paint } from '../environment.ts';

const quiet = new Set(['level', 'time', 'msg', 'pid', 'start_ms']);

const show = (value: unknown): string => {
  if (typeof value === 'string') return /[\s"=]/.test(value) ? JSON.stringify(value) : value;
  if (value !== null && typeof value === 'object' && 'message' in value) return JSON.stringify(value.message);
  return JSON.stringify(value);
};

const fieldsOf = (entry: Readonly<Record<string, unknown>>): string =>
  Object.entries(entry)
    .filter(([key, value]) => !quiet.has(key) && value !== undefined)
    .map(([key, value]) => `${key}=${printable(show(value))}`)
    .join(' ');

/** As it stands there when it is no time. */
const timeOf = ({ time }: Readonly<Record<string, unknown>>): string => {
  const ms = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? printable(String(time)) : localTime(ms);
};

/** A log line as a person reads it; undefined for details. */
export const readableLine = (line: string, terminal: Terminal): string | undefined => {
  const entry = JSON.parse(line) as Record<string, unknown>;
  const level = String(entry['level']);
  if (level === 'debug' || level === 'trace') return undefined;
  const color = level === 'info' ? 'green' : level === 'warn' ? 'yellow' : 'red';
  return `${paint(terminal, 'dim', timeOf(entry))} ${paint(terminal, color, String(entry['msg']))} ${paint(terminal, 'dim', fieldsOf(entry))}\n`;
};

/** How important a line is, as systemd's journal counts. */
const priorities: Readonly<Record<string, number>> = { fatal: 2, error: 3, warn: 4, info: 6, debug: 7, trace: 7 };

/** Programs that a service starts inherit the variable, and write elsewhere. */
const writesToJournal = ({ env }: Terminal): boolean => {
  const stream = env['JOURNAL_STREAM'] ?? '';
  if (stream === '') return false;
  const { dev, ino } = fstatSync(process.stderr.fd);
  return stream === `${dev}:${ino}`;
};

const journalLine = (line: string): string => `<${priorities[/"level":"(\w+)"/.exec(line)?.[1] ?? 'info'] ?? 6}>${line}`;

/** What a gateway in the foreground prints of its log: for a person at a terminal, with its importance for systemd's journal, and whole lines for whoever else collects them. */
export const consoleLine = (line: string, terminal: Terminal): string | undefined => {
  if (terminal.stream?.isTTY === true) return readableLine(line, terminal);
  return writesToJournal(terminal) ? journalLine(line) : line;
};

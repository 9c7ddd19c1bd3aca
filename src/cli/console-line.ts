import type { Terminal } from './environment.ts';
import { paint } from './environment.ts';

const quiet = new Set(['level', 'time', 'msg', 'pid', 'start_ms']);

const show = (value: unknown): string => {
  if (typeof value === 'string') return /[\s"=]/.test(value) ? JSON.stringify(value) : value;
  if (value !== null && typeof value === 'object' && 'message' in value) return JSON.stringify(value.message);
  return JSON.stringify(value);
};

const fieldsOf = (entry: Readonly<Record<string, unknown>>): string =>
  Object.entries(entry)
    .filter(([key, value]) => !quiet.has(key) && value !== undefined)
    .map(([key, value]) => `${key}=${show(value)}`)
    .join(' ');

/** A log line as a person reads it; undefined for details. */
export const readableLine = (line: string, terminal: Terminal): string | undefined => {
  const entry = JSON.parse(line) as Record<string, unknown>;
  const level = String(entry['level']);
  if (level === 'debug' || level === 'trace') return undefined;
  const color = level === 'info' ? 'green' : level === 'warn' ? 'yellow' : 'red';
  const time = String(entry['time']).slice(11, 19);
  return `${paint(terminal, 'dim', time)} ${paint(terminal, color, String(entry['msg']))} ${paint(terminal, 'dim', fieldsOf(entry))}\n`;
};

/** What a gateway in the foreground prints of its log: for a person at a terminal, and whole lines for whoever collects them. */
export const consoleLine = (line: string, terminal: Terminal): string | undefined => (terminal.stream?.isTTY === true ? readableLine(line, terminal) : line);

import { join } from 'node:path';
import { openLogFile } from '../lib/log-file.ts';
import { newLogger } from '../lib/logger.ts';
import type { Logger } from '../lib/logger.ts';
import type { Redactor } from '../lib/redact.ts';
import type { Terminal } from './environment.ts';

export const logLimits = { maxBytes: 5 * 1024 * 1024, keep: 3 };

/** The gateway's log: a file in the home for the whole story, and each line for whoever else wants it. */
export const openLog = (terminal: Terminal, at: { readonly home: string; readonly redactor: Redactor }, onLine?: (line: string) => void): { readonly log: Logger; close(): Promise<void> } => {
  const file = openLogFile(join(at.home, 'logs', 'gateway.log'), logLimits);
  const level = terminal.env['HERMES_LOG_LEVEL'] === 'debug' ? 'debug' : 'info';
  const write = (line: string): void => {
    file.write(line);
    onLine?.(line);
  };
  return { log: newLogger({ level, redactor: at.redactor, write }), close: () => file.close() };
};

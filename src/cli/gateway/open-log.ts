import { join } from 'node:path';
import { openLogFile } from '../../lib/log-file.ts';
import { newLogger } from '../../lib/logger.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Redactor } from '../../lib/redact.ts';
import type { Terminal } from '../environment.ts';

export const logLimits = { maxBytes: 5 * 1024 * 1024, keep: 3 };

/** Whatever it is about, nothing may come after it. */
const isFatal = (line: string): boolean => line.startsWith('{"level":"fatal"');

/**
 * The gateway's log: a file in the home for the whole story, and each line for whoever else wants it. Lines are written together when the event loop comes round,
 * so that no answer waits for them; at the end of the process, and with a fatal one, at once.
 */
export const openLog = (terminal: Terminal, at: { readonly home: string; readonly redactor: Redactor }, onLine?: (line: string) => void): { readonly log: Logger; close(): Promise<void> } => {
  const file = openLogFile(join(at.home, 'logs', 'gateway.log'), logLimits);
  const level = terminal.env['HERMES_LOG_LEVEL'] === 'debug' ? 'debug' : 'info';
  let waiting: string[] = [];
  const flush = (): void => {
    const lines = waiting;
    waiting = [];
    for (const line of lines) {
      file.write(line);
      onLine?.(line);
    }
  };
  const write = (line: string): void => {
    if (waiting.push(line) === 1) setImmediate(flush);
    if (isFatal(line)) flush();
  };
  process.on('exit', flush);
  const close = (): Promise<void> => {
    flush();
    process.off('exit', flush);
    return file.close();
  };
  return { log: newLogger({ level, redactor: at.redactor, write }), close };
};

import { join } from 'node:path';
import { openLogFile } from '../../lib/log-file.ts';
import { newLogger } from '../../lib/logger.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Redactor } from '../../lib/redact.ts';
import type { Terminal } from '../environment.ts';

export const logLimits = { maxBytes: 5 * 1024 * 1024, keep: 3 };

/** Writing a line costs a gateway under load as much as several queries, so then the lines of so long are written together. */
const restMs = 20;

/** Whatever it is about, nothing may come after it. */
const isFatal = (line: string): boolean => line.startsWith('{"level":"fatal"');

/**
 * The gateway's log: a file in the home for the whole story, and the same lines for whoever else wants them. Lines are written together when the event loop comes round,
 * so that no answer waits for them, or a moment later when some have just been; at the end of the process, and with a fatal one, at once.
 */
export const openLog = (terminal: Terminal, at: { readonly home: string; readonly redactor: Redactor }, onLines?: (lines: readonly string[]) => void): { readonly log: Logger; close(): Promise<void> } => {
  const file = openLogFile(join(at.home, 'logs', 'gateway.log'), logLimits);
  const level = terminal.env['HERMES_LOG_LEVEL'] === 'debug' ? 'debug' : 'info';
  let waiting: string[] = [];
  let isResting = false;
  const flush = (): void => {
    const lines = waiting;
    waiting = [];
    if (lines.length === 0) return;
    file.write(lines.join(''));
    onLines?.(lines);
  };
  const flushAndRest = (): void => {
    flush();
    isResting = true;
    setTimeout(() => {
      isResting = false;
      if (waiting.length > 0) flushAndRest();
    }, restMs).unref();
  };
  const write = (line: string): void => {
    if (waiting.push(line) === 1 && !isResting) setImmediate(flushAndRest);
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

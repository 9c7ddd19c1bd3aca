import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { DestinationStream, Logger as PinoLogger } from 'pino';
import type { Redactor } from './redact.ts';

/** Fixed event names, then fields: `log.info({ account, ms }, 'message.done')`. Message text only at `debug`. */
export type Logger = Pick<PinoLogger, 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'> & {
  child(fields: Readonly<Record<string, unknown>>): Logger;
};

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** Every line passes the redactor on its way out, whatever put a secret into it. */
export const newLogger = (options: { level: LogLevel; redactor: Redactor; write: (line: string) => void }): Logger => {
  const destination: DestinationStream = { write: (line) => options.write(options.redactor.redact(line)) };
  return pino(
    { level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
    destination,
  );
};

/** A logger that keeps its lines, for tests that assert on them. */
export const capturingLogger = (redactor?: Redactor): { log: Logger; lines: string[] } => {
  const lines: string[] = [];
  const plain: Redactor = redactor ?? { remember: () => undefined, redact: (text) => text };
  return { log: newLogger({ level: 'trace', redactor: plain, write: (line) => lines.push(line) }), lines };
};

export const silentLogger: Logger = pino({ level: 'silent' }, new Writable({ write: (_chunk, _encoding, done) => done() }));

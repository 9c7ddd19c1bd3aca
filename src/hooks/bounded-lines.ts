import { StringDecoder } from 'node:string_decoder';
import type { Clock } from '../lib/clock.ts';

export interface BoundedLines {
  add(piece: Buffer): void;
  /** What stands behind the last line break. */
  end(): void;
}

const longestLine = 500;
const mostLines = 50;
const windowMs = 10_000;

/** Passes what a hook prints on line by line; from a flood of lines only the first of every ten seconds. Holds no more than one line. */
export const boundedLines = (clock: Clock, onLine: (line: string) => void): BoundedLines => {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let windowFromMs = -Infinity;
  let passed = 0;
  const pass = (line: string): void => {
    const nowMs = clock.now();
    if (nowMs - windowFromMs >= windowMs) {
      windowFromMs = nowMs;
      passed = 0;
    }
    passed += 1;
    if (passed <= mostLines && line.trim() !== '') onLine(line.slice(0, longestLine).toWellFormed());
    else if (passed === mostLines + 1) onLine('[… it prints too much; the rest is left out]');
  };
  return {
    add(piece) {
      const lines = (rest + decoder.write(piece)).split(/\r?\n/);
      rest = (lines.pop() ?? '').slice(0, longestLine);
      for (const line of lines) pass(line);
    },
    end() {
      pass(rest);
      rest = '';
    },
  };
};

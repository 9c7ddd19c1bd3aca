import { systemClock } from '../../lib/clock.ts';
import type { Terminal } from '../environment.ts';
import { Core } from './core.ts';
import { widestText } from './layout.ts';
import { markdownLines } from './markdown-lines.ts';
import { printedLines } from './printed-lines.ts';
import { askOnce } from './query.ts';
import type { QueryResult } from './query.ts';
import { paintLine } from './style.ts';
import { openWindow } from './window.ts';
import type { WindowWish } from './window.ts';

export interface QueryRun {
  readonly question: string;
  readonly wish: WindowWish & { readonly json?: true };
  readonly colored: boolean;
}

const longestQuestion = 500;

/** As it is for a pipe; a person at a screen gets it rendered. */
const shown = (answer: string, colored: boolean): string => {
  if (!process.stdout.isTTY) return answer;
  return markdownLines(answer, { columns: Math.min(process.stdout.columns, widestText), colored }).map((each) => paintLine(each, colored)).join('\n');
};

/** Asks and prints: the answer alone on standard output, everything else on standard error, and progress only to a person. */
export const runQuery = async (terminal: Terminal, run: QueryRun): Promise<QueryResult> => {
  const core = await Core.open(terminal);
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stop);
  try {
    const { window } = await openWindow(core.store, { account: core.account, routing: core.config.sections }, run.wish);
    const onProgress: Parameters<typeof askOnce>[0]['onProgress'] = (item) => {
      if (process.stderr.isTTY && (item.type === 'tool' || item.type === 'notice')) terminal.writeError(`${printedLines(item, { columns: process.stderr.columns, colored: false }).map((each) => paintLine(each, false)).join('\n')}\n`);
    };
    const onUnanswered = (question: string): void => terminal.writeError(`Nobody can answer here, so the agent goes on without: ${question.replaceAll(/\s+/g, ' ').slice(0, longestQuestion).toWellFormed()}\n`);
    const result = await askOnce({ core, window, clock: systemClock, question: run.question, signal: stopping.signal, onProgress, onUnanswered });
    if (run.wish.json !== true && result.answer !== '') terminal.write(`${shown(result.answer, run.colored).trimEnd()}\n`);
    if (!result.ok && run.wish.json !== true) terminal.writeError(`${result.error ?? `The answer ended: ${result.reason}.`}\n`);
    return result;
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, stop);
    await core.close();
  }
};

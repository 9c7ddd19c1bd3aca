import { z } from 'zod';
import type { Clock } from '../../../lib/clock.ts';
import { cleanText } from './clean-output.ts';
import type { BackgroundProcess } from './process-entry.ts';
import { matchNotice, unwatchedNotice } from './process-notices.ts';
import { judgeHit, noHits } from './watch-limits.ts';
import type { WatchCounts } from './watch-limits.ts';

/** What is looked for in the output of a process, and how far that has come. Plain data, kept with the process. */
export interface Watch {
  readonly patterns: readonly string[];
  readonly scannedBytes: number;
  readonly counts: WatchCounts;
}

const stored = z.object({
  patterns: z.array(z.string()),
  scannedBytes: z.number(),
  counts: z.object({ hits: z.number(), lastHitAtMs: z.number().nullable(), dropped: z.boolean(), strikes: z.number() }),
});

export const newWatch = (patterns: readonly string[]): Watch => ({ patterns, scannedBytes: 0, counts: noHits });

export const readWatch = (text: string | null): Watch | undefined => (text === null ? undefined : stored.parse(JSON.parse(text)));

const maxScanBytes = 1024 * 1024;
/** A line that is longer is looked at before it ends. */
const maxLineBytes = 64 * 1024;

export interface ScanDeps {
  readonly clock: Clock;
  readonly breaker: { allows(nowMs: number): boolean };
  redact(text: string): string;
  tell(key: string, text: string): Promise<void>;
  /** `notifyAtEnd` is set when the watch has given way to that. */
  keep(watch: Watch | undefined, notifyAtEnd: boolean): Promise<void>;
}

/** New output up to the last whole line. */
const newLines = async (process: BackgroundProcess, position: number): Promise<{ readonly next: number; readonly lines: readonly string[] }> => {
  const { from, bytes } = await process.output.read(Math.min(position, await process.output.end()), maxScanBytes);
  const isWhole = process.end !== undefined || bytes.length >= maxLineBytes;
  const length = isWhole && bytes.length < maxScanBytes ? bytes.length : bytes.lastIndexOf(10) + 1 || (isWhole ? bytes.length : 0);
  return { next: from + length, lines: cleanText(bytes.subarray(0, length)).split('\n') };
};

/** Looks for the patterns in what is new, and tells a hit as far as the limits allow. The position moves on only when everything is told. */
export const scanOutput = async (process: BackgroundProcess, deps: ScanDeps): Promise<void> => {
  const { watch, id, command } = process;
  if (watch === undefined) return;
  const { next, lines } = await newLines(process, watch.scannedBytes);
  if (next === watch.scannedBytes) return;
  const hits = lines.filter((line) => watch.patterns.some((pattern) => line.includes(pattern)));
  const nowMs = deps.clock.now();
  const verdict = hits.length === 0 ? undefined : judgeHit(watch.counts, nowMs);
  if (verdict === undefined || verdict.type === 'drop' || !deps.breaker.allows(nowMs)) {
    process.watch = { ...watch, scannedBytes: next, counts: verdict === undefined ? watch.counts : { ...watch.counts, dropped: true } };
    return;
  }
  const over = verdict.type === 'end' || verdict.last;
  const text = verdict.type === 'end' ? unwatchedNotice({ id, command }) : matchNotice({ id, command, lines: hits.map((line) => deps.redact(line)), last: verdict.last });
  await deps.tell(`process:${id}:watch:${verdict.counts.hits}`, text);
  process.watch = over ? undefined : { ...watch, scannedBytes: next, counts: verdict.counts };
  if (over && process.end === undefined) process.notify = true;
  await deps.keep(process.watch, process.notify);
};

import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { systemClock } from '../../lib/clock.ts';

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

const momentOf = (text: string): number => {
  const hasOffset = /[T ].*(?:Z|[+-]\d\d(?::?\d\d)?)$/i.test(text);
  const at = hasOffset ? Temporal.Instant.from(text) : Temporal.PlainDateTime.from(text, { overflow: 'reject' }).toZonedDateTime(Temporal.Now.timeZoneId());
  return at.epochMilliseconds;
};

/** A moment as people write it: so long ago (`30m`, `2d`), or a day or a time where this machine is unless it says otherwise. */
export const readMoment = (text: string, nowMs: number): number => {
  const [, count, unit] = /^(\d+)\s*([smhdw])$/.exec(text.trim()) ?? [];
  if (count !== undefined && unit !== undefined) return nowMs - Number(count) * (unitMs[unit] ?? 0);
  try {
    return momentOf(text.trim());
  } catch (error) {
    if (error instanceof RangeError) throw new InvalidArgumentError('how long ago, such as 30m, 1h or 2d, or a time, such as 2026-11-15 or 2026-11-15T10:00');
    throw error;
  }
};

/** From a moment on, and up to another one. */
export interface TimeWindow {
  readonly since?: number;
  readonly until?: number;
}

export const withTimeWindow = (command: Command): Command =>
  command
    .option('--since <time>', 'only from then on: so long ago (30m, 1h, 2d), a day or a time (2026-11-15, 2026-11-15T10:00)', (text) => readMoment(text, systemClock.now()))
    .option('--until <time>', 'only before then; a day begins at midnight', (text) => readMoment(text, systemClock.now()));

export const isBounded = ({ since, until }: TimeWindow): boolean => since !== undefined || until !== undefined;

/** What has no time that can be read is in no window. */
export const isWithin = (time: unknown, window: TimeWindow): boolean => {
  if (!isBounded(window)) return true;
  const atMs = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return atMs >= (window.since ?? -Infinity) && atMs < (window.until ?? Infinity);
};

const usualLines = 50;

/** The newest of what is asked for: as many as somebody has said, everything of a window of time, and else not too much. */
export const newest = <T>(items: readonly T[], options: TimeWindow & { readonly lines?: number }): readonly T[] => {
  const most = options.lines ?? (isBounded(options) ? Infinity : usualLines);
  return most === 0 ? [] : items.slice(-most);
};

import { Cron } from 'croner';
import type { Schedule } from '../store/cron/cron-jobs.ts';

const minuteMs = 60_000;

/** How late a single run may be asked for. */
const onceGraceMs = 120_000;
const longestGraceMs = 7_200_000;

/** More times of day than this in one expression are rather a rhythm than a list of appointments. */
const mostAppointments = 48;

/** The numbers of a field that names each of them: `9`, `9,17` or `9-12`; undefined for a rhythm such as `*` or `0-30/10`. */
const named = (field: string): readonly number[] | undefined => {
  if (/[*/]/.test(field)) return undefined;
  return field.split(',').flatMap((part) => {
    const [from = 0, to = from] = part.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
};

/**
 * The same expression as appointments with one time of day each. The clocks going back must not repeat an appointment, and their going forward must
 * not lose one; the library knows that of a single time of day, and takes a list for a rhythm.
 */
const appointments = (expr: string): readonly string[] => {
  const [minute = '', hour = '', ...days] = expr.split(' ');
  const [minutes, hours] = [named(minute), named(hour)];
  if (minutes === undefined || hours === undefined || minutes.length * hours.length > mostAppointments) return [expr];
  return hours.flatMap((h) => minutes.map((m) => [m, h, ...days].join(' ')));
};

const patterns = (expr: string, zone: string): readonly Cron[] => appointments(expr).map((one) => new Cron(one, { paused: true, mode: '5-part', timezone: zone }));

const sorted = (times: readonly Date[]): readonly number[] => [...new Set(times.map((time) => time.getTime()))].toSorted((a, b) => a - b);

/** The next time after `afterMs`; undefined when there is none. */
const nextOf = (expr: string, zone: string, afterMs: number): number | undefined => sorted(patterns(expr, zone).flatMap((pattern) => pattern.nextRun(new Date(afterMs)) ?? []))[0];

/** The last `count` times up to and including `untilMs`, oldest first. */
const lastOf = (expr: string, zone: string, last: { untilMs: number; count: number }): readonly number[] => {
  // The library asks for whole seconds and leaves out the one it is asked for.
  const before = new Date(Math.floor(last.untilMs / 1000) * 1000 + 1000);
  return sorted(patterns(expr, zone).flatMap((pattern) => pattern.previousRuns(last.count, before))).slice(-last.count);
};

export interface Since {
  /** The slot that ran last. */
  readonly lastMs: number | null;
  readonly nowMs: number;
  readonly zone: string;
}

/** When a job is due next: counted from its last slot, never from when that was dealt with. Null when it is not due again. */
export const nextSlot = (schedule: Schedule, { lastMs, nowMs, zone }: Since): number | null => {
  switch (schedule.kind) {
    case 'once':
      return lastMs !== null || schedule.atMs < nowMs - onceGraceMs ? null : schedule.atMs;
    case 'interval':
      return (lastMs ?? nowMs) + schedule.minutes * minuteMs;
    case 'cron':
      return nextOf(schedule.expr, zone, lastMs ?? nowMs) ?? null;
    default:
      throw schedule satisfies never;
  }
};

/** How late a run still counts as being on time: half the time to the next one, from two minutes to two hours. */
export const graceMs = (schedule: Schedule, zone: string, slotMs: number): number => {
  if (schedule.kind === 'once') return onceGraceMs;
  const next = nextSlot(schedule, { lastMs: slotMs, nowMs: slotMs, zone });
  return next === null ? longestGraceMs : Math.min(longestGraceMs, Math.max(onceGraceMs, (next - slotMs) / 2));
};

export interface DueSlots {
  /** The newest ones, oldest first. */
  readonly newest: readonly number[];
  /** All that are due; `countedMost` when there are more. */
  readonly count: number;
  /** The first one that is not due yet. */
  readonly nextMs: number | null;
}

/** Enough to say how much was missed. */
export const countedMost = 100;

/** The slots from `firstMs` up to now, of which `firstMs` is one. */
export const dueSlots = (schedule: Schedule, due: { firstMs: number; nowMs: number; zone: string; most: number }): DueSlots => {
  const { firstMs, nowMs, zone, most } = due;
  switch (schedule.kind) {
    case 'once':
      return { newest: [firstMs], count: 1, nextMs: null };
    case 'interval': {
      const period = schedule.minutes * minuteMs;
      const count = Math.floor((nowMs - firstMs) / period) + 1;
      const newest = Array.from({ length: Math.min(most, count) }, (_, index) => firstMs + (count - Math.min(most, count) + index) * period);
      return { newest, count: Math.min(count, countedMost), nextMs: firstMs + count * period };
    }
    case 'cron': {
      const second = nextOf(schedule.expr, zone, firstMs);
      if (second === undefined || second > nowMs) return { newest: [firstMs], count: 1, nextMs: second ?? null };
      const later = lastOf(schedule.expr, zone, { untilMs: nowMs, count: countedMost }).filter((atMs) => atMs > firstMs);
      const all = later.length >= countedMost ? later : [firstMs, ...later];
      return { newest: all.slice(-most), count: all.length, nextMs: nextOf(schedule.expr, zone, nowMs) ?? null };
    }
    default:
      throw schedule satisfies never;
  }
};

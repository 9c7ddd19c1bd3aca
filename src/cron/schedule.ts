import { Cron } from 'croner';
import type { Schedule } from '../store/cron/cron-jobs.ts';

export type ReadSchedule = { readonly type: 'schedule'; readonly schedule: Schedule; readonly display: string } | { readonly type: 'error'; readonly problem: string };

const minutesPer: Readonly<Record<string, number>> = { m: 1, h: 60, d: 1440 };
const duration = /^(\d{1,6})\s*(m|min|mins|minute|minutes|h|hr|hrs|hour|hours|d|day|days)$/i;
const field = /^[\d*,/-]+$/;
const moment = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

const longestMinutes = 5 * 366 * 1440;

const examples = 'Write "30m" or "in 30m" (once), "every 30m", a cron expression such as "0 9 * * 1-5", or a time such as "2026-04-01 08:30"';

const error = (problem: string): ReadSchedule => ({ type: 'error', problem });

/** The minutes of `30m`, `2 hours` or `1d`; undefined for anything else, and for no time at all. */
const readMinutes = (text: string): number | undefined => {
  const [, amount = '', unit = ''] = duration.exec(text) ?? [];
  const minutes = Number(amount) * (minutesPer[unit.charAt(0).toLowerCase()] ?? 0);
  return minutes >= 1 && minutes <= longestMinutes ? minutes : undefined;
};

const shortSpan = (minutes: number): string => {
  if (minutes % 1440 === 0) return `${minutes / 1440}d`;
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
};

const readInterval = (text: string): ReadSchedule => {
  const minutes = readMinutes(text);
  if (minutes === undefined) return error(`"every ${text}" names no span; write minutes, hours or days, such as "every 30m"`);
  return { type: 'schedule', schedule: { kind: 'interval', minutes }, display: `every ${shortSpan(minutes)}` };
};

const readExpression = (expr: string, zone: string): ReadSchedule => {
  try {
    // Its library would also take names, seconds and nicknames; what a job is stored with stays as plain as crontab(5).
    if (new Cron(expr, { paused: true, mode: '5-part', timezone: zone }).nextRun() === null) return error(`"${expr}" never comes`);
  } catch (cause) {
    return error(`"${expr}" is no cron expression: ${cause instanceof Error ? cause.message.replace(/^CronPattern: /, '') : String(cause)}`);
  }
  return { type: 'schedule', schedule: { kind: 'cron', expr }, display: expr };
};

/** The moment that a date and time of day mean in a zone. One that the clocks skip is taken by as much later, of one that comes twice the first is meant. */
const momentIn = (written: string, zone: string): number => Temporal.PlainDateTime.from(written).toZonedDateTime(zone, { disambiguation: 'compatible' }).epochMilliseconds;

const readMoment = (parts: RegExpExecArray, zone: string): ReadSchedule => {
  const [text, day = '', time = '00:00', seconds = '00', offset] = parts;
  const written = `${day}T${time}:${seconds}`;
  try {
    const atMs = offset === undefined ? momentIn(written, zone) : Temporal.Instant.from(`${written}${offset.toUpperCase()}`).epochMilliseconds;
    return { type: 'schedule', schedule: { kind: 'once', atMs }, display: `once at ${day} ${time}` };
  } catch (cause) {
    if (cause instanceof RangeError) return error(`"${text}" is no time that exists`);
    throw cause;
  }
};

/** When a job is to run, as people write it. A bare span means once, after it; times without an offset are meant in `zone`. */
export const readSchedule = (written: string, at: { readonly zone: string; readonly nowMs: number }): ReadSchedule => {
  const text = written.trim().replaceAll(/\s+/g, ' ');
  const [, every] = /^every (.+)$/i.exec(text) ?? [];
  if (every !== undefined) return readInterval(every);
  const span = text.replace(/^in /i, '');
  const minutes = readMinutes(span);
  if (minutes !== undefined) return { type: 'schedule', schedule: { kind: 'once', atMs: at.nowMs + minutes * 60_000 }, display: `once in ${span}` };
  const fields = text.split(' ');
  if (fields.length === 5 && fields.every((part) => field.test(part))) return readExpression(text, at.zone);
  const parts = moment.exec(text);
  if (parts !== null) return readMoment(parts, at.zone);
  return error(text === '' ? `A job needs a schedule. ${examples}` : `"${text.slice(0, 80)}" is no schedule. ${examples}`);
};

/** Whether this names a zone of the IANA database, such as `Europe/Berlin`. */
export const isZone = (name: string): boolean => {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch (cause) {
    if (cause instanceof RangeError) return false;
    throw cause;
  }
};

/** The zone of the machine. */
export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

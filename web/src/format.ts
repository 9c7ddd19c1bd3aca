const minute = 60_000;
const day = 24 * 60 * minute;

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: 'long' });
const date = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'long' });
const fullDate = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'long', year: 'numeric' });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'short' });

export const startOfDay = (ms: number): number => new Date(ms).setHours(0, 0, 0, 0);
export const timeOf = (ms: number): string => clock.format(ms);
export const momentOf = (ms: number): string => moment.format(ms);

export const dayOf = (ms: number, nowMs: number): string => {
  const days = Math.round((startOfDay(nowMs) - startOfDay(ms)) / day);
  if (days === 0) return 'Today';
  if (days === 1) return 'Yesterday';
  if (days > 1 && days < 7) return weekday.format(ms);
  return new Date(ms).getFullYear() === new Date(nowMs).getFullYear() ? date.format(ms) : fullDate.format(ms);
};

/** As short as a list allows: a time today, then a day, then a date. */
export const shortTimeOf = (ms: number, nowMs: number): string => (startOfDay(ms) === startOfDay(nowMs) ? timeOf(ms) : dayOf(ms, nowMs));

export const sizeOf = (bytes: number): string => {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['KB', 'MB', 'GB'];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
};

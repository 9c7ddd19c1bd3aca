const pad = (value: number): string => String(value).padStart(2, '0');

/** `2026-11-15`: the day of a moment where this machine is. */
export const localDay = (ms: number): string => {
  const date = new Date(ms);
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
};

/** When the next day begins there, however long this one is. */
export const nextDayMs = (ms: number): number => {
  const date = new Date(ms);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1).getTime();
};

/** `2026-11-15 22:14:08+09:00`: a moment where this machine is, to the second, so that it is known everywhere which one it is. */
export const localTime = (ms: number): string =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(Temporal.Now.timeZoneId()).toString({ smallestUnit: 'second', timeZoneName: 'never' }).replace('T', ' ');

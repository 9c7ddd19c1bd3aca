/** How long the server asked us to wait, from `retry-after-ms` or `Retry-After` (seconds or a date). Never negative. */
export const retryAfterMs = (headers: Pick<Headers, 'get'>, nowMs: number): number | undefined => {
  const exact = headers.get('retry-after-ms');
  if (exact !== null && /^\d+(\.\d+)?$/.test(exact.trim())) return Math.ceil(Number(exact));
  const value = headers.get('retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000);
  // `Date.parse` also takes things like `-1`; an HTTP date begins with the name of a day.
  const atMs = /^[A-Za-z]/.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
};

const windowMs = 60_000;

/** Counts the calls of each route; answers how long a call has to wait, 0 for one that may come in. Calls of a time that was taken back do not count. */
export const newRateLimit = (): ((route: string, perMinute: number, nowMs: number) => number) => {
  const taken = new Map<string, number[]>();
  return (route, perMinute, nowMs) => {
    const recent = (taken.get(route) ?? []).filter((atMs) => Math.abs(nowMs - atMs) < windowMs);
    taken.set(route, recent);
    const [oldest] = recent.slice(-perMinute);
    if (recent.length >= perMinute && oldest !== undefined) return oldest + windowMs - nowMs;
    recent.push(nowMs);
    return 0;
  };
};

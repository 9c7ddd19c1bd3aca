/** Between two hits of one process. */
const minGapMs = 15_000;
/** So many gaps in a row in which hits had to be dropped end the watch. */
const maxStrikes = 3;
/** Over the whole life of a process. */
const maxHits = 8;
/** For all processes together. */
const breaker = { hits: 15, windowMs: 10_000, coolMs: 30_000 } as const;

/** How often a process may still speak up. Plain data; it is kept beside the process. */
export interface WatchCounts {
  readonly hits: number;
  readonly lastHitAtMs: number | null;
  /** A hit was dropped since the last one. */
  readonly dropped: boolean;
  readonly strikes: number;
}

export const noHits: WatchCounts = { hits: 0, lastHitAtMs: null, dropped: false, strikes: 0 };

export type HitVerdict =
  /** `last`: there will be none after it. */
  | { readonly type: 'tell'; readonly counts: WatchCounts; readonly last: boolean }
  | { readonly type: 'drop'; readonly counts: WatchCounts }
  /** It speaks up too often: it is not listened to any more. */
  | { readonly type: 'end'; readonly counts: WatchCounts };

/** Whether a hit is told. */
export const judgeHit = (counts: WatchCounts, nowMs: number): HitVerdict => {
  if (counts.lastHitAtMs !== null && nowMs - counts.lastHitAtMs < minGapMs) return { type: 'drop', counts: { ...counts, dropped: true } };
  const strikes = counts.dropped ? counts.strikes + 1 : 0;
  const next: WatchCounts = { hits: counts.hits + 1, lastHitAtMs: nowMs, dropped: false, strikes };
  if (strikes >= maxStrikes) return { type: 'end', counts: next };
  return { type: 'tell', counts: next, last: next.hits >= maxHits };
};

/** Holds everybody back when all processes together speak up too often. */
export const newHitBreaker = (): { allows(nowMs: number): boolean } => {
  let recent: number[] = [];
  let closedUntilMs = 0;
  return {
    allows(nowMs) {
      if (nowMs < closedUntilMs) return false;
      recent = recent.filter((at) => nowMs - at < breaker.windowMs);
      if (recent.length >= breaker.hits) {
        closedUntilMs = nowMs + breaker.coolMs;
        recent = [];
        return false;
      }
      recent.push(nowMs);
      return true;
    },
  };
};

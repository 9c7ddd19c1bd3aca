/** Servers end connections that send too much. Answers how long to wait until so many lines may be sent, and counts them when that is not at all. */
export const newPace = ({ burst, lineMs }: { readonly burst: number; readonly lineMs: number }): ((lines: number, nowMs: number) => number) => {
  /** When everything that was sent will have been worn off. */
  let clearMs = 0;
  return (lines, nowMs) => {
    const startMs = Math.max(clearMs, nowMs);
    const room = burst * lineMs;
    // A message of more lines than fit at once goes when nothing else is in the way.
    const waitMs = startMs + Math.min(lines * lineMs, room) - nowMs - room;
    if (waitMs > 0) return waitMs;
    clearMs = startMs + lines * lineMs;
    return 0;
  };
};

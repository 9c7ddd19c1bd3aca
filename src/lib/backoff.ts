/** Exponential growth up to a cap, of which the upper half is random. */
export const backoffMs = (attempt: number, options: { baseMs: number; capMs: number; random?: () => number }): number => {
  const ceiling = Math.min(options.capMs, options.baseMs * 2 ** Math.max(0, attempt - 1));
  const random = options.random ?? Math.random;
  return Math.round(ceiling * (0.5 + random() / 2));
};

/** The value below which this share of the samples lies. NaN without samples. */
export const quantile = (samples: readonly number[], share: number): number => {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

export const median = (samples: readonly number[]): number => quantile(samples, 0.5);

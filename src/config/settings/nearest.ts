/** Letters to change, add, drop or swap with their neighbour to get from one word to the other. */
export const distance = (a: string, b: string): number => {
  const width = b.length + 1;
  const cells = new Uint16Array((a.length + 1) * width);
  const cell = (i: number, j: number): number => cells[i * width + j] ?? 0;
  for (let i = 0; i <= a.length; i += 1) {
    for (let j = 0; j <= b.length; j += 1) {
      if (i === 0 || j === 0) {
        cells[i * width + j] = i + j;
        continue;
      }
      const same = a[i - 1] === b[j - 1];
      let least = Math.min(cell(i - 1, j) + 1, cell(i, j - 1) + 1, cell(i - 1, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, cell(i - 2, j - 2) + 1);
      cells[i * width + j] = least;
    }
  }
  return cell(a.length, b.length);
};

const longestWord = 64;
const normal = (word: string): string => word.toLowerCase().replaceAll('-', '_');

/** The word somebody probably meant: about one letter in three may be wrong, up to three; case and `-` for `_` do not count. */
export const nearest = (word: string, candidates: Iterable<string>): string | undefined => {
  if (word.length > longestWord) return undefined;
  let best: string | undefined;
  let bestDistance = Math.min(3, Math.max(1, Math.floor(word.length / 3))) + 1;
  for (const candidate of candidates) {
    const steps = distance(normal(word), normal(candidate));
    if (steps < bestDistance) {
      best = candidate;
      bestDistance = steps;
    }
  }
  return best;
};

/** So many lines before and after a change are shown with it. */
const context = 2;
/** Beyond this the comparison would take too long to be worth it. */
const maxCells = 4_000_000;

type Kept = '  ' | '- ' | '+ ';

interface Line {
  readonly mark: Kept;
  readonly text: string;
}

/** For every pair of positions, how many lines the rests have in common. */
const commonLengths = (a: readonly string[], b: readonly string[]): Uint32Array => {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const same = a[i] === b[j] ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1 : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
      lengths[i * width + j] = same;
    }
  }
  return lengths;
};

const compare = (a: readonly string[], b: readonly string[]): Line[] => {
  if (a.length * b.length > maxCells) return [...a.map((text): Line => ({ mark: '- ', text })), ...b.map((text): Line => ({ mark: '+ ', text }))];
  const lengths = commonLengths(a, b);
  const width = b.length + 1;
  const lines: Line[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ mark: '  ', text: a[i] ?? '' });
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && (lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0))) {
      lines.push({ mark: '- ', text: a[i] ?? '' });
      i += 1;
    } else {
      lines.push({ mark: '+ ', text: b[j] ?? '' });
      j += 1;
    }
  }
  return lines;
};

/** What differs between two texts, line by line, with a few lines around it; empty when nothing does. */
export const lineDiff = (before: string, after: string): readonly string[] => {
  const lines = compare(before.split('\n'), after.split('\n'));
  const isNear = (at: number): boolean => lines.slice(Math.max(0, at - context), at + context + 1).some(({ mark }) => mark !== '  ');
  const shown: string[] = [];
  let gap = false;
  for (const [at, { mark, text }] of lines.entries()) {
    if (!isNear(at)) {
      gap = shown.length > 0;
      continue;
    }
    if (gap) shown.push('  …');
    gap = false;
    shown.push(`${mark}${text}`.trimEnd());
  }
  return shown;
};

type Step = { readonly mark: '-' | '+' | ' '; readonly text: string; readonly line: number };

/** Larger changes are shown as one block out, one block in. */
const maxCells = 250_000;

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** The steps from one list of lines to another, by their longest common part. */
const steps = (before: readonly string[], after: readonly string[], firstLine: number): Step[] => {
  if (before.length * after.length > maxCells) {
    return [...before.map((text, index): Step => ({ mark: '-', text, line: firstLine + index })), ...after.map((text): Step => ({ mark: '+', text, line: firstLine }))];
  }
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = before[i] === after[j] ? common[(i + 1) * width + j + 1]! + 1 : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  const out: Step[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const line = firstLine + i;
    if (i < before.length && j < after.length && before[i] === after[j]) {
      out.push({ mark: ' ', text: before[i]!, line });
      i += 1;
      j += 1;
    } else if (j >= after.length || (i < before.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) {
      out.push({ mark: '-', text: before[i]!, line });
      i += 1;
    } else {
      out.push({ mark: '+', text: after[j]!, line });
      j += 1;
    }
  }
  return out;
};

/** What differs between two texts, as lines marked `-` and `+` below the number of the line where they begin; at most so many lines. */
export const changedLines = (before: string, after: string, maxLines: number): string => {
  const old = linesOf(before);
  const now = linesOf(after);
  let same = 0;
  while (same < old.length && same < now.length && old[same] === now[same]) same += 1;
  let tail = 0;
  while (tail < old.length - same && tail < now.length - same && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const changes = steps(old.slice(same, old.length - tail), now.slice(same, now.length - tail), same + 1);
  const out: string[] = [];
  let running = false;
  for (const { mark, text, line } of changes) {
    if (mark === ' ') running = false;
    else {
      if (!running) out.push(`@@ line ${line}`);
      running = true;
      out.push(`${mark}${text}`);
    }
  }
  return out.length <= maxLines ? out.join('\n') : [...out.slice(0, maxLines), `… ${out.length - maxLines} more lines`].join('\n');
};

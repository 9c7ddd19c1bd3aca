/**
 * Lines without their secrets, each still at its number. A secret over several lines may become one: lines before and after it keep their numbers, and the
 * numbers in between are left out.
 */
export const hideSecrets = (lines: readonly string[], redact: (text: string) => string): readonly (string | undefined)[] => {
  if (lines.length === 0) return [];
  const hidden = redact(lines.join('\n')).split('\n');
  const missing = lines.length - hidden.length;
  if (missing <= 0) return hidden.slice(0, lines.length);
  let same = 0;
  while (same < hidden.length && hidden[same] === lines[same]) same += 1;
  let tail = 0;
  while (tail < hidden.length - same && hidden.at(-1 - tail) === lines.at(-1 - tail)) tail += 1;
  const changed = hidden.length - tail;
  return [...hidden.slice(0, changed), ...Array.from({ length: missing }, () => undefined), ...hidden.slice(changed)];
};

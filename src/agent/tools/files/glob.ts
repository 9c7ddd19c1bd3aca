const classAt = (glob: string, at: number): { readonly source: string; readonly next: number } | undefined => {
  const close = glob.indexOf(']', at + 2);
  if (close === -1) return undefined;
  const inner = glob.slice(at + 1, close).replace(/^[!^]/, '');
  const negated = inner.length < close - at - 1;
  return { source: `[${negated ? '^/' : ''}${inner.replaceAll(/[\\[\]&^~|]/g, '\\$&')}]`, next: close + 1 };
};

const starsAt = (glob: string, at: number): { readonly source: string; readonly next: number } => {
  const stars = /^\*+/.exec(glob.slice(at))?.[0].length ?? 1;
  const next = at + stars;
  const whole = stars >= 2 && (at === 0 || glob[at - 1] === '/');
  if (whole && glob[next] === '/') return { source: '(?:[^/]+/)*', next: next + 1 };
  if (whole && next === glob.length) return { source: '.*', next };
  return { source: '[^/]*', next };
};

const globSource = (glob: string): string => {
  let source = '';
  let depth = 0;
  let at = 0;
  while (at < glob.length) {
    const letter = glob[at] ?? '';
    const piece = letter === '*' ? starsAt(glob, at) : letter === '[' ? classAt(glob, at) : undefined;
    if (piece !== undefined) {
      source += piece.source;
      at = piece.next;
      continue;
    }
    if (letter === '?') source += '[^/]';
    else if (letter === '\\' && at + 1 < glob.length) {
      at += 1;
      source += RegExp.escape(glob[at] ?? '');
    } else if (letter === '{' && glob.includes('}', at)) {
      depth += 1;
      source += '(?:';
    } else if (letter === '}' && depth > 0) {
      depth -= 1;
      source += ')';
    } else if (letter === ',' && depth > 0) source += '|';
    else source += RegExp.escape(letter);
    at += 1;
  }
  return source + ')'.repeat(depth);
};

/**
 * A pattern of file names (`*`, `**`, `?`, `[a-z]`, `{a,b}`) as a regular expression over a path with forward slashes. It is to be run only in threads
 * that can be ended, since a pattern may be made to be slow. Nothing when it is no pattern, such as `[z-a]`.
 */
export const readGlob = (glob: string, options: { readonly ignoreCase?: boolean } = {}): RegExp | undefined => {
  try {
    return new RegExp(`^${globSource(glob)}$`, options.ignoreCase ? 'is' : 's');
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

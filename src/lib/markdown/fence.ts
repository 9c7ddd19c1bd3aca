/** The first line of a fenced code block. */
export interface Fence {
  /** White space before the marker; as much is taken off the lines of code. */
  readonly indent: string;
  /** At least three backticks or tildes. */
  readonly marker: string;
  readonly info: string;
}

const opening = /^([ \t]*)(`{3,}|~{3,})(.*)$/s;
const closing = /^[ \t]*(`{3,}|~{3,})[ \t]*$/;

/** Indented by any amount: chat has no indented code, and models indent fences in lists as they like. */
export const openFence = (line: string): Fence | undefined => {
  const [, indent = '', marker = '', rest = ''] = opening.exec(line) ?? [];
  if (marker === '' || (marker.startsWith('`') && rest.includes('`'))) return undefined;
  return { indent, marker, info: rest.trim() };
};

export const closesFence = ({ marker }: Pick<Fence, 'marker'>, line: string): boolean => closing.exec(line)?.[1]?.startsWith(marker) ?? false;

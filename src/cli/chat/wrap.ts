import { graphemes, textWidth } from '../../lib/text-width.ts';
import type { Line, Span, Style } from './style.ts';
import { lineText } from './style.ts';

interface Cell {
  readonly text: string;
  readonly width: number;
  readonly style: Style;
}

const cellsOf = (spans: Line): readonly Cell[] => spans.flatMap(({ text, style }) => graphemes(text).map((each) => ({ text: each, width: textWidth(each), style })));

const joined = (cells: readonly Cell[]): Line => {
  const spans: { text: string; style: Style }[] = [];
  for (const { text, style } of cells) {
    const last = spans.at(-1);
    if (last !== undefined && last.style === style) last.text += text;
    else spans.push({ text, style });
  }
  return spans;
};

const isSpace = (cell: Cell | undefined): boolean => cell?.text === ' ';

const withoutEnd = (cells: readonly Cell[]): readonly Cell[] => cells.slice(0, cells.findLastIndex((cell) => !isSpace(cell)) + 1);

/** Where the last line of these cells may end so that it fits: behind a space, beside a wide character, or else anywhere. */
const breakOf = (cells: readonly Cell[]): number => {
  for (let at = cells.length - 1; at > 0; at -= 1) {
    if (isSpace(cells[at - 1]) && cells.slice(0, at - 1).some((cell) => !isSpace(cell))) return at;
    if ((cells[at - 1]?.width === 2 || cells[at]?.width === 2) && !isSpace(cells[at])) return at;
  }
  return cells.length - 1;
};

/** One line, which has no newlines, as lines that fit. Spaces at the beginning stay; those at a break go. */
const wrapOne = (spans: Line, columns: number): readonly Line[] => {
  if (textWidth(lineText(spans)) <= columns) return [spans];
  const lines: Line[] = [];
  let cells: Cell[] = [];
  let width = 0;
  for (const cell of cellsOf(spans)) {
    cells.push(cell);
    width += cell.width;
    if (width <= columns || cells.length === 1 || isSpace(cell)) continue;
    const at = breakOf(cells);
    lines.push(joined(withoutEnd(cells.slice(0, at))));
    cells = cells.slice(at);
    width = cells.reduce((sum, each) => sum + each.width, 0);
  }
  return [...lines, joined(withoutEnd(cells))];
};

const splitAtNewlines = (spans: Line): readonly Line[] => {
  const lines: Span[][] = [[]];
  for (const { text, style } of spans) {
    for (const [i, part] of text.split('\n').entries()) {
      if (i > 0) lines.push([]);
      if (part !== '') lines.at(-1)?.push({ text: part, style });
    }
  }
  return lines;
};

/** Breaks text between words, or where that is not possible between characters, so that no line is wider than `columns`. */
export const wrapSpans = (spans: Line, columns: number): readonly Line[] => splitAtNewlines(spans).flatMap((each) => wrapOne(each, Math.max(2, columns)));

/** Breaks between characters only, for code. */
export const chopText = (text: string, columns: number): readonly string[] => {
  const lines: string[] = [];
  let current = '';
  let width = 0;
  for (const each of graphemes(text)) {
    const more = textWidth(each);
    if (width + more > Math.max(2, columns) && current !== '') {
      lines.push(current);
      current = '';
      width = 0;
    }
    current += each;
    width += more;
  }
  return [...lines, current];
};

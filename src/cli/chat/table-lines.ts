import { textWidth } from '../../lib/text-width.ts';
import { lineText, span } from './style.ts';
import type { Line, Style } from './style.ts';
import { wrapSpans } from './wrap.ts';

interface Table {
  readonly header: readonly Line[];
  readonly rows: readonly (readonly Line[])[];
}

const faint: Style = { dim: true };
const gap = ' │ ';
const crossing = '─┼─';
const narrowest = 6;

const widthOf = (cell: Line | undefined): number => Math.max(0, ...lineText(cell ?? []).split('\n').map(textWidth));

/** Gives every column what it needs, and takes from the widest until all of them fit. */
const columnWidths = (natural: readonly number[], room: number): readonly number[] => {
  const widths = natural.map((width) => Math.max(1, width));
  for (let over = widths.reduce((sum, width) => sum + width, 0) - room; over > 0; over -= 1) {
    const widest = widths.indexOf(Math.max(...widths));
    widths[widest] = (widths[widest] ?? 1) - 1;
  }
  return widths;
};

const padded = (cell: Line, width: number): Line => [...cell, span(' '.repeat(Math.max(0, width - textWidth(lineText(cell)))))];

/** A row is as high as its highest cell. */
const rowLines = (row: readonly Line[], widths: readonly number[]): readonly Line[] => {
  const cells = widths.map((width, i) => wrapSpans(row[i] ?? [], width));
  const height = Math.max(1, ...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, y) =>
    cells.flatMap((lines, i) => {
      const last = i === widths.length - 1;
      const cell = lines[y] ?? [];
      return [...(i === 0 ? [] : [span(gap, faint)]), ...(last ? cell : padded(cell, widths[i] ?? 0))];
    }),
  );
};

/** Where there is no room for columns, each row is a small list. */
const asList = ({ header, rows }: Table, columns: number): readonly Line[] =>
  rows.flatMap((row, y) => [...(y === 0 ? [] : [[]]), ...row.flatMap((cell, i) => wrapSpans([...(header[i] ?? []), span(': '), ...cell], columns))]);

/** Columns that are aligned and fit, with cells wrapped where they must. */
export const tableLines = (table: Table, columns: number): readonly Line[] => {
  const count = Math.max(table.header.length, ...table.rows.map((row) => row.length));
  const room = columns - gap.length * (count - 1);
  if (room < count * narrowest && table.rows.length > 0) return asList(table, columns);
  const natural = Array.from({ length: count }, (_, i) => Math.max(widthOf(table.header[i]), ...table.rows.map((row) => widthOf(row[i]))));
  const widths = columnWidths(natural, room);
  const rule = span(widths.map((width) => '─'.repeat(width)).join(crossing), faint);
  return [...rowLines(table.header, widths), [rule], ...table.rows.flatMap((row) => rowLines(row, widths))];
};

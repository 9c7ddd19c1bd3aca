import { graphemes, textWidth } from '../../lib/text-width.ts';

export interface PromptRows {
  readonly rows: readonly string[];
  /** Where the cursor stands among them. */
  readonly cursor: { readonly row: number; readonly column: number };
}

const shownAs = (grapheme: string): string => (grapheme === '\t' ? '    ' : grapheme);

/** The text of the input line broken into rows of at most `columns`, with the place of the cursor. */
export const promptRows = (text: string, cursor: number, columns: number): PromptRows => {
  const rows = [''];
  let width = 0;
  let at = 0;
  let place = { row: 0, column: 0 };
  const breakRow = (): void => {
    rows.push('');
    width = 0;
  };
  for (const part of text.split(/(\n)/)) {
    for (const grapheme of part === '\n' ? ['\n'] : graphemes(part)) {
      const shown = shownAs(grapheme);
      if (grapheme !== '\n' && width + textWidth(shown) > columns) breakRow();
      if (at === cursor) place = { row: rows.length - 1, column: width };
      at += grapheme.length;
      if (grapheme === '\n') {
        breakRow();
        continue;
      }
      rows[rows.length - 1] += shown;
      width += textWidth(shown);
    }
  }
  if (at === cursor) {
    if (width >= columns) breakRow();
    place = { row: rows.length - 1, column: width };
  }
  return { rows, cursor: place };
};

/** So many rows around the cursor, and how many are left out above and below. */
export const visibleRows = ({ rows, cursor }: PromptRows, most: number): PromptRows & { readonly above: number; readonly below: number } => {
  const above = Math.max(0, Math.min(cursor.row - Math.floor(most / 2), rows.length - most));
  const shown = rows.slice(above, above + most);
  return { rows: shown, cursor: { ...cursor, row: cursor.row - above }, above, below: rows.length - above - shown.length };
};

import { textWidth } from '../../lib/text-width.ts';
import type { Area } from './layout.ts';
import { lineText, paintLine } from './style.ts';
import type { Line } from './style.ts';

export interface ScreenOptions {
  readonly colored: boolean;
  size(): { readonly columns: number; readonly rows: number };
  write(text: string): void;
}

const esc = '\u001b[';
const codes = {
  hideCursor: `${esc}?25l`,
  showCursor: `${esc}?25h`,
  /** A line that is wider than it was measured is cut instead of moving everything below it. */
  wrapOff: `${esc}?7l`,
  wrapOn: `${esc}?7h`,
  eraseLine: `${esc}K`,
  eraseBelow: `${esc}J`,
  clear: `${esc}H${esc}2J`,
  /** Terminals that know it show everything in between at once. */
  beginUpdate: `${esc}?2026h`,
  endUpdate: `${esc}?2026l`,
} as const;

const up = (rows: number): string => (rows > 0 ? `${esc}${rows}A` : '');
const toColumn = (column: number): string => `${esc}${column + 1}G`;

const nowhere: Area = { lines: [], cursor: { row: 0, column: 0 } };

/** How many rows of a terminal with so many columns lie between the top of the area and its cursor, if the terminal has wrapped it anew. */
const rowsToCursor = ({ lines, cursor }: Area, columns: number): number => {
  const heights = lines.slice(0, cursor.row).map((each) => Math.max(1, Math.ceil(textWidth(lineText(each)) / columns)));
  return heights.reduce((sum, height) => sum + height, 0) + Math.floor(cursor.column / columns);
};

/** Writes finished lines once, above an area that is drawn anew below them. It never touches what has scrolled away. */
export class Screen {
  readonly #options: ScreenOptions;
  #area: Area = nowhere;
  #drawn = '';

  constructor(options: ScreenOptions) {
    this.#options = options;
  }

  /** Draws the area, with finished lines printed above it. */
  draw(area: Area, finished: readonly Line[] = []): void {
    const { colored } = this.#options;
    const lines = area.lines.map((each) => codes.eraseLine + paintLine(each, colored)).join('\r\n');
    const place = `${up(area.lines.length - 1 - area.cursor.row)}${toColumn(area.cursor.column)}`;
    const drawn = lines + place;
    if (drawn === this.#drawn && finished.length === 0) return;
    this.#options.write(`${codes.beginUpdate}${codes.hideCursor}${this.#toTop()}${this.#above(finished)}${codes.wrapOff}${lines}${codes.eraseBelow}${codes.wrapOn}${place}${codes.showCursor}${codes.endUpdate}`);
    this.#area = area;
    this.#drawn = drawn;
  }

  /** Takes the area away, for somebody else to write there. */
  release(finished: readonly Line[] = []): void {
    this.#options.write(`${this.#toTop()}${this.#above(finished)}${codes.eraseBelow}`);
    this.#area = nowhere;
    this.#drawn = '';
  }

  /** Forgets what was drawn last, so that the next drawing is whole; the terminal may have moved it. */
  invalidate(): void {
    this.#drawn = '';
  }

  clear(): void {
    this.#options.write(codes.clear);
    this.#area = nowhere;
    this.#drawn = '';
  }

  /** Erased before it is written: behind a line that fills its row, erasing would take its last character. */
  #above(finished: readonly Line[]): string {
    return finished.map((each) => `${codes.eraseLine}${paintLine(each, this.#options.colored)}\r\n`).join('');
  }

  #toTop(): string {
    return `${up(rowsToCursor(this.#area, this.#options.size().columns))}\r`;
  }
}

import { graphemes, textWidth } from '../../lib/text-width.ts';

/** As much of a terminal as our screen uses: rows that scroll away at the top, a cursor, and a few sequences. Anything else is an error. */
export class ModelTerminal {
  columns: number;
  rows: number;
  /** Everything ever shown, scrolled away or not; the screen is the last `rows` of it. */
  lines: string[] = [''];
  #row = 0;
  #column = 0;
  #wraps = true;

  constructor(columns: number, rows: number) {
    this.columns = columns;
    this.rows = rows;
  }

  get cursor(): { readonly line: string; readonly column: number } {
    return { line: this.lines[this.#row] ?? '', column: this.#column };
  }

  shown(): readonly string[] {
    return this.lines.map((line) => line.trimEnd());
  }

  write(text: string): void {
    for (const [part] of text.matchAll(/\p{Cc}\[[0-9;?]*[A-Za-z]|\r|\n|\P{Cc}+/gu)) {
      if (part === '\r') this.#column = 0;
      else if (part === '\n') this.#down();
      else if (part.startsWith('\u001b')) this.#obey(part.slice(2));
      else for (const each of graphemes(part)) this.#put(each);
    }
  }

  #put(grapheme: string): void {
    const width = textWidth(grapheme);
    if (this.#column + width > this.columns) {
      if (!this.#wraps) return;
      this.#column = 0;
      this.#down();
    }
    // Wide characters are followed by nothing, so that an index is a column.
    const cells = [...(this.lines[this.#row] ?? '').padEnd(this.#column)];
    cells.splice(this.#column, width, grapheme + '\u200b'.repeat(width - 1));
    this.lines[this.#row] = cells.join('');
    this.#column += width;
  }

  #down(): void {
    this.#row += 1;
    if (this.lines[this.#row] === undefined) this.lines.push('');
  }

  #obey(code: string): void {
    const number = Number.parseInt(code, 10) || 1;
    const top = Math.max(0, this.lines.length - this.rows);
    switch (code.at(-1)) {
      case 'A':
        this.#row = Math.max(top, this.#row - number);
        return;
      case 'G':
        this.#column = number - 1;
        return;
      case 'K':
        // Behind a full row the cursor still stands on its last column.
        this.lines[this.#row] = (this.lines[this.#row] ?? '').slice(0, Math.min(this.#column, this.columns - 1));
        return;
      case 'J':
        this.lines.splice(this.#row + 1);
        this.lines[this.#row] = (this.lines[this.#row] ?? '').slice(0, this.#column);
        return;
      case 'h':
      case 'l':
        if (code.startsWith('?7')) this.#wraps = code.endsWith('h');
        return;
      case 'm':
        return;
      default:
        throw new Error(`a sequence that the model does not know: ${code}`);
    }
  }
}

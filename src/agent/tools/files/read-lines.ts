import { StringDecoder } from 'node:string_decoder';

/** An open file, or what stands for one. */
export interface ByteSource {
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
}

/** A text that is read like a file. */
export const textSource = (text: string): ByteSource => {
  const bytes = Buffer.from(text);
  return { read: async (buffer, offset, length, position) => ({ bytesRead: bytes.copy(buffer, offset, position, position + length) }) };
};

export interface LineRange {
  /** Number of the first line, from 1. */
  readonly first: number;
  readonly count: number;
  /** Characters of the first line to leave out. */
  readonly skipChars: number;
  /** For all lines together, with their numbers. */
  readonly maxChars: number;
}

export interface LineWindow {
  readonly lines: readonly string[];
  /** All lines of the file; nothing when it is too long to count them. */
  readonly total: number | undefined;
  /** Something comes after the lines that were read. */
  readonly more: boolean;
  /** The only line was too long: where to go on in it. */
  readonly cutAtChar: number | undefined;
}

const chunkBytes = 65_536;
/** Beyond this, the rest is not counted. */
const maxScannedBytes = 64 * 1024 * 1024;

/** Up to `chars` characters, and never half of one. */
const takeWhole = (text: string, chars: number): string => {
  const piece = text.slice(0, chars);
  return /[\uD800-\uDBFF]$/.test(piece) ? piece.slice(0, -1) : piece;
};

interface Collector {
  /** Adds to the line under way. */
  part(text: string): void;
  endLine(): void;
  /** Nothing more is taken; lines are only counted. */
  full(): boolean;
  /** Lines that have ended. */
  ended(): number;
  readonly lines: readonly string[];
  cutAtChar(): number | undefined;
}

/** Collects the lines of a range from pieces of text; holds no more than the range may have. */
const newCollector = (range: LineRange): Collector => {
  const lines: string[] = [];
  let line = 1;
  let text = '';
  let skip = range.skipChars;
  let left = range.maxChars;
  let full = false;
  let cutAtChar: number | undefined;
  return {
    lines,
    full: () => full,
    ended: () => line - 1,
    cutAtChar: () => cutAtChar,
    part(more) {
      if (full || line < range.first) return;
      text += more.slice(skip);
      skip = Math.max(0, skip - more.length);
      const room = left - `${line}|\n`.length;
      if (text.length <= room) return;
      if (lines.length === 0) {
        const whole = takeWhole(text, room);
        lines.push(whole);
        cutAtChar = range.skipChars + whole.length;
      }
      full = true;
    },
    endLine() {
      if (!full && line >= range.first) {
        lines.push(text.endsWith('\r') ? text.slice(0, -1) : text);
        left -= `${line}|${text}\n`.length;
        text = '';
        skip = 0;
        full = lines.length === range.count;
      }
      line += 1;
    },
  };
};

/** Reads a range of lines and counts the rest, in pieces; the size of the file does not matter for memory. */
export const readLines = async (source: ByteSource, range: LineRange, signal: AbortSignal): Promise<LineWindow> => {
  const collector = newCollector(range);
  const decoder = new StringDecoder('utf8');
  const buffer = Buffer.allocUnsafe(chunkBytes);
  let position = 0;
  /** Something of a line stands after the last line feed. */
  let open = false;

  const take = (text: string): void => {
    let from = 0;
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', from)) {
      if (!collector.full()) collector.part(text.slice(from, at));
      collector.endLine();
      from = at + 1;
    }
    open = from < text.length || (open && from === 0);
    if (!collector.full()) collector.part(text.slice(from));
  };

  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await source.read(buffer, 0, chunkBytes, position);
    const piece = bytesRead === 0 ? decoder.end() : decoder.write(buffer.subarray(0, bytesRead));
    take(position === 0 && piece.startsWith('\uFEFF') ? piece.slice(1) : piece);
    position += bytesRead;
    if (bytesRead === 0) break;
    if (collector.full() && position >= maxScannedBytes) return { lines: collector.lines, total: undefined, more: true, cutAtChar: collector.cutAtChar() };
  }
  if (open) collector.endLine();
  const total = collector.ended();
  return { lines: collector.lines, total, more: collector.cutAtChar() !== undefined || range.first + collector.lines.length <= total, cutAtChar: collector.cutAtChar() };
};

export interface SseEvent {
  /** The `event` field; `message` when there is none. */
  readonly name: string;
  readonly data: string;
}

/** One event, or one line, was larger than allowed. */
export class SseTooLarge extends Error {
  constructor(maxChars: number) {
    super(`a server-sent event is larger than ${maxChars} characters`);
    this.name = 'SseTooLarge';
  }
}

export interface SseParser {
  /** Takes decoded text in any pieces; answers the events that it completes. */
  push(text: string): readonly SseEvent[];
  /** What an ending without a blank line left behind: possibly the last event, possibly the first part of one. */
  end(): SseEvent | undefined;
}

/** The event-stream format of the HTML standard, with a limit on what one event may hold in memory. */
export const newSseParser = (maxEventChars: number): SseParser => {
  /** The line that has not ended yet. In pieces, so that a long one is joined and searched once. */
  let pieces: string[] = [];
  let heldChars = 0;
  let skipLineFeed = false;
  let name = '';
  let data: string | undefined;
  let out: SseEvent[] = [];

  const dispatch = (): void => {
    if (data !== undefined) out.push({ name: name === '' ? 'message' : name, data });
    name = '';
    data = undefined;
  };

  const takeLine = (line: string): void => {
    if (line === '') return dispatch();
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line.charCodeAt(colon + 1) === 0x20 ? colon + 2 : colon + 1);
    if (field === 'data') {
      data = data === undefined ? value : `${data}\n${value}`;
      if (data.length > maxEventChars) throw new SseTooLarge(maxEventChars);
    } else if (field === 'event') name = value;
  };

  const hold = (piece: string): void => {
    if (piece === '') return;
    pieces.push(piece);
    heldChars += piece.length;
    if (heldChars > maxEventChars) throw new SseTooLarge(maxEventChars);
  };

  const release = (): string => {
    const text = pieces.length === 1 ? pieces[0]! : pieces.join('');
    pieces = [];
    heldChars = 0;
    return text;
  };

  const takeLines = (text: string): void => {
    let start = 0;
    let lineFeed = text.indexOf('\n');
    let carriageReturn = text.indexOf('\r');
    while (lineFeed !== -1 || carriageReturn !== -1) {
      const endsInReturn = carriageReturn !== -1 && (lineFeed === -1 || carriageReturn < lineFeed);
      const end = endsInReturn ? carriageReturn : lineFeed;
      const line = text.slice(start, end);
      takeLine(heldChars === 0 ? line : release() + line);
      start = end + 1;
      if (endsInReturn) {
        if (start === text.length) skipLineFeed = true;
        else if (lineFeed === start) start += 1;
        carriageReturn = text.indexOf('\r', start);
      }
      if (lineFeed !== -1 && lineFeed < start) lineFeed = text.indexOf('\n', start);
    }
    hold(text.slice(start));
  };

  return {
    push(text) {
      let piece = text;
      if (skipLineFeed && piece !== '') {
        if (piece.charCodeAt(0) === 0x0a) piece = piece.slice(1);
        skipLineFeed = false;
      }
      takeLines(piece);
      if (out.length === 0) return out;
      const done = out;
      out = [];
      return done;
    },
    end() {
      if (heldChars > 0) takeLine(release());
      dispatch();
      return out.pop();
    },
  };
};

export interface ReadSseOptions {
  readonly maxEventChars: number;
  /** Of the whole answer. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Everything one read of the network completed; `last` marks what was left without its blank line when the body ended. */
export interface SseBatch {
  readonly events: readonly SseEvent[];
  readonly last: boolean;
}

/**
 * Reads a body to its end. Rejects at once with the signal's reason when aborted, also when the body ignores being
 * cancelled. Leaving the loop early cancels the body.
 */
export async function* readSse(body: ReadableStream<Uint8Array>, options: ReadSseOptions): AsyncGenerator<SseBatch, void, undefined> {
  const { signal } = options;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = newSseParser(options.maxEventChars);
  const cancel = (): void => {
    // A broken body rejects the cancelling too; the read that is waiting reports the same failure.
    reader.cancel(signal.reason).catch(() => undefined);
  };
  let bytes = 0;
  let ended = false;
  signal.addEventListener('abort', cancel, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) break;
      bytes += value.byteLength;
      if (bytes > options.maxBytes) throw new SseTooLarge(options.maxBytes);
      const events = parser.push(decoder.decode(value, { stream: true }));
      if (events.length > 0) yield { events, last: false };
    }
    ended = true;
    const tail = decoder.decode();
    const events = tail === '' ? [] : parser.push(tail);
    const leftover = parser.end();
    if (events.length > 0) yield { events, last: false };
    if (leftover !== undefined) yield { events: [leftover], last: true };
  } finally {
    signal.removeEventListener('abort', cancel);
    if (!ended) cancel();
  }
}

import type { ReadStream } from 'node:tty';
import { KeyDecoder } from './keys.ts';
import type { Key } from './keys.ts';

/** Long enough for the rest of a sequence over a slow line, short enough for a person who pressed Escape. */
const escapeMs = 50;
const pasteOn = '\u001b[?2004h';
const pasteOff = '\u001b[?2004l';

/** The keyboard in raw mode: every key comes at once, and pasted text comes whole. */
export class Keyboard {
  readonly #stream: ReadStream;
  readonly #onKey: (key: Key) => void;
  readonly #write: (text: string) => void;
  #decoder = new KeyDecoder();
  #timer: NodeJS.Timeout | undefined;
  readonly #onData = (piece: string): void => this.#read(piece);

  constructor(stream: ReadStream, write: (text: string) => void, onKey: (key: Key) => void) {
    this.#stream = stream;
    this.#write = write;
    this.#onKey = onKey;
  }

  open(): void {
    this.#decoder = new KeyDecoder();
    this.#stream.setEncoding('utf8');
    this.#stream.setRawMode(true);
    this.#stream.on('data', this.#onData);
    this.#stream.resume();
    this.#write(pasteOn);
  }

  /** The terminal is as it was before. */
  close(): void {
    clearTimeout(this.#timer);
    this.#stream.off('data', this.#onData);
    this.#stream.setRawMode(false);
    this.#stream.pause();
    this.#write(pasteOff);
  }

  #read(piece: string): void {
    clearTimeout(this.#timer);
    for (const key of this.#decoder.read(piece)) this.#onKey(key);
    if (!this.#decoder.isWaiting) return;
    this.#timer = setTimeout(() => {
      for (const key of this.#decoder.flush()) this.#onKey(key);
    }, escapeMs);
  }
}

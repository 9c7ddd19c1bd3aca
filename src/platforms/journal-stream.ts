import type { Clock } from '../lib/clock.ts';
import type { AccountData } from './contract.ts';

/** Where a stream gets its frames from. */
export interface StreamSource<Entry extends { readonly seq: number }, Live> {
  /** Stored entries, always read from the journal, so that one written by another process arrives like our own. */
  after(seq: number, limit: number): Promise<readonly Entry[]>;
  readonly watch: AccountData['watch'];
  /** What somebody who joins now has to be told first. */
  snapshot(): readonly Live[];
  subscribe(listener: (frame: Live) => void): Disposable;
  readonly clock: Clock;
}

/** How frames are written. */
export interface StreamFormat<Entry, Live> {
  readonly opening: string;
  entry(frame: Entry): string;
  live(frame: Live): string;
  /** Everything stored up to here has been told. */
  readonly ready: string;
  readonly keepAlive: string;
}

export interface Reader {
  /** Replay starts behind this number. */
  readonly after: number;
  /** Ends the stream. */
  readonly signal: AbortSignal;
  /** Breaks the connection under the stream, which a reader that takes nothing would otherwise keep open. */
  readonly cut?: (() => void) | undefined;
  /** After this the reader has to come back. */
  readonly longestMs?: number;
}

const pageSize = 100;
const bufferBytes = 64 * 1024;
const keepAliveMs = 15_000;

/** What may wait for a slow reader. Beyond it the reader is cut off; it comes back with its cursor and misses nothing. */
const maxWaitingBytes = 1024 * 1024;

const encoder = new TextEncoder();

interface Alarm {
  wake(): void;
  /** Until woken or until the time is over; says which. */
  sleep(ms: number): Promise<'woken' | 'slept'>;
}

const newAlarm = (clock: Clock): Alarm => {
  let nap = new AbortController();
  return {
    wake: () => nap.abort(),
    async sleep(ms) {
      const { signal } = nap;
      try {
        await clock.sleep(ms, signal);
        return 'slept';
      } catch (error) {
        if (!signal.aborted) throw error;
        return 'woken';
      } finally {
        nap = new AbortController();
      }
    },
  };
};

/** One reader's place in the journal, and what waits for it. */
class Subscription<Entry extends { readonly seq: number }, Live> implements UnderlyingDefaultSource<Uint8Array> {
  readonly #source: StreamSource<Entry, Live>;
  readonly #format: StreamFormat<Entry, Live>;
  readonly #reader: Reader;
  readonly #alarm: Alarm;
  readonly #endsAtMs: number;
  readonly #held = new DisposableStack();
  readonly #waiting: string[] = [];
  #waitingBytes = 0;
  #cursor: number;
  #unread = true;
  #ready = false;
  #ended = false;

  constructor(source: StreamSource<Entry, Live>, format: StreamFormat<Entry, Live>, reader: Reader) {
    this.#source = source;
    this.#format = format;
    this.#reader = reader;
    this.#alarm = newAlarm(source.clock);
    this.#cursor = reader.after;
    this.#endsAtMs = source.clock.now() + (reader.longestMs ?? Infinity);
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const { signal } = this.#reader;
    const onAbort = (): void => this.cancel();
    signal.addEventListener('abort', onAbort, { once: true });
    this.#held.defer(() => signal.removeEventListener('abort', onAbort));
    this.#held.use(this.#source.subscribe((frame) => this.#take(frame, controller)));
    this.#held.use(this.#source.watch(() => this.#look()));
    if (this.#format.opening !== '') controller.enqueue(encoder.encode(this.#format.opening));
    if (signal.aborted) this.cancel();
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    for (;;) {
      if (this.#ended || this.#source.clock.now() >= this.#endsAtMs) break;
      const text = await this.#next();
      if (text === '') continue;
      controller.enqueue(encoder.encode(text));
      return;
    }
    this.cancel();
    controller.close();
  }

  cancel(): void {
    this.#ended = true;
    this.#held.dispose();
    this.#alarm.wake();
  }

  #look(): void {
    this.#unread = true;
    this.#alarm.wake();
  }

  #take(frame: Live, controller: ReadableStreamDefaultController<Uint8Array>): void {
    if (!this.#ready) return;
    const text = this.#format.live(frame);
    this.#waiting.push(text);
    this.#waitingBytes += text.length;
    if (this.#waitingBytes <= maxWaitingBytes) {
      this.#alarm.wake();
      return;
    }
    this.cancel();
    if (this.#reader.cut === undefined) controller.error(new Error('the reader is too slow'));
    else this.#reader.cut();
  }

  /** Live frames go first: those of a message were all sent before its final text was stored. */
  async #next(): Promise<string> {
    if (this.#waiting.length > 0) {
      this.#waitingBytes = 0;
      return this.#waiting.splice(0).join('');
    }
    if (this.#unread) return this.#stored();
    if (!this.#ready) {
      this.#ready = true;
      return this.#source.snapshot().map((frame) => this.#format.live(frame)).join('') + this.#format.ready;
    }
    if ((await this.#alarm.sleep(keepAliveMs)) === 'woken') return '';
    this.#unread = true;
    return this.#format.keepAlive;
  }

  async #stored(): Promise<string> {
    this.#unread = false;
    const frames = await this.#source.after(this.#cursor, pageSize);
    this.#cursor = frames.at(-1)?.seq ?? this.#cursor;
    this.#unread ||= frames.length === pageSize;
    return frames.map((frame) => this.#format.entry(frame)).join('');
  }
}

/** Everything stored after the reader's cursor, page by page as it can take it, then what happens. */
export const openJournalStream = <Entry extends { readonly seq: number }, Live>(source: StreamSource<Entry, Live>, format: StreamFormat<Entry, Live>, reader: Reader): ReadableStream<Uint8Array> =>
  new ReadableStream(new Subscription(source, format, reader), new ByteLengthQueuingStrategy({ highWaterMark: bufferBytes }));

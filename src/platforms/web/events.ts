import type { Clock } from '../../lib/clock.ts';
import type { AccountData } from '../contract.ts';
import type { Journal } from './journal.ts';
import type { Live } from './live.ts';
import { entryEvent, liveEvent } from './wire.ts';
import type { JournalFrame, LiveFrame } from './wire.ts';

export interface EventsDeps {
  readonly journal: Journal;
  readonly watch: AccountData['watch'];
  readonly live: Live;
  readonly clock: Clock;
}

export interface Reader {
  /** Replay starts behind this number. */
  readonly after: number;
  /** Ends the stream. */
  readonly signal: AbortSignal;
  /** Breaks the connection under the stream, which a reader that takes nothing would otherwise keep open. */
  readonly cut?: (() => void) | undefined;
}

const pageSize = 100;
const bufferBytes = 64 * 1024;
const keepAliveMs = 15_000;

/** What may wait for a slow reader. Beyond it the reader is cut off; it comes back with its cursor and misses nothing. */
const maxWaitingBytes = 1024 * 1024;

/** After this the reader has to come back, and its login is looked at again. */
const longestMs = 15 * 60_000;

const encoder = new TextEncoder();

const entryText = (frame: JournalFrame): string => `id: ${frame.seq}\nevent: ${entryEvent}\ndata: ${JSON.stringify(frame)}\n\n`;
const liveText = (frame: LiveFrame): string => `event: ${liveEvent}\ndata: ${JSON.stringify(frame)}\n\n`;

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
class Subscription implements UnderlyingDefaultSource<Uint8Array> {
  readonly #deps: EventsDeps;
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

  constructor(deps: EventsDeps, reader: Reader) {
    this.#deps = deps;
    this.#reader = reader;
    this.#alarm = newAlarm(deps.clock);
    this.#cursor = reader.after;
    this.#endsAtMs = deps.clock.now() + longestMs;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const { signal } = this.#reader;
    const onAbort = (): void => this.cancel();
    signal.addEventListener('abort', onAbort, { once: true });
    this.#held.defer(() => signal.removeEventListener('abort', onAbort));
    this.#held.use(this.#deps.live.subscribe((frame) => this.#take(frame, controller)));
    this.#held.use(this.#deps.watch(() => this.#look()));
    controller.enqueue(encoder.encode('retry: 1000\n\n'));
    if (signal.aborted) this.cancel();
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    for (;;) {
      if (this.#ended || this.#deps.clock.now() >= this.#endsAtMs) break;
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

  #take(frame: LiveFrame, controller: ReadableStreamDefaultController<Uint8Array>): void {
    if (!this.#ready) return;
    const text = liveText(frame);
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
      return [...this.#deps.live.snapshot(), { type: 'ready' } as const].map(liveText).join('');
    }
    if ((await this.#alarm.sleep(keepAliveMs)) === 'woken') return '';
    this.#unread = true;
    return ': here\n\n';
  }

  async #stored(): Promise<string> {
    this.#unread = false;
    const frames = await this.#deps.journal.after(this.#cursor, pageSize);
    this.#cursor = frames.at(-1)?.seq ?? this.#cursor;
    this.#unread ||= frames.length === pageSize;
    return frames.map(entryText).join('');
  }
}

/**
 * Server-sent events: everything stored after the reader's cursor, page by page as it can take it, then what happens.
 * Stored entries are always read from the journal, so one written by another process arrives like our own.
 */
export const openEvents = (deps: EventsDeps, reader: Reader): ReadableStream<Uint8Array> =>
  new ReadableStream(new Subscription(deps, reader), new ByteLengthQueuingStrategy({ highWaterMark: bufferBytes }));

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
export const maxWaitingBytes = 1024 * 1024;

/** After this the reader has to come back, and its login is looked at again. */
const longestMs = 15 * 60_000;

const encoder = new TextEncoder();

const entryText = (frame: JournalFrame): string => `id: ${frame.seq}\nevent: ${entryEvent}\ndata: ${JSON.stringify(frame)}\n\n`;
const liveText = (frame: LiveFrame): string => `event: ${liveEvent}\ndata: ${JSON.stringify(frame)}\n\n`;

/** Sleeps until woken or until the time is over; says which. */
const newAlarm = (clock: Clock) => {
  let nap = new AbortController();
  return {
    wake: (): void => nap.abort(),
    async sleep(ms: number): Promise<'woken' | 'slept'> {
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

/**
 * Server-sent events: everything stored after the reader's cursor, page by page as it can take it, then what happens.
 * Stored entries are always read from the journal, so one written by another process arrives like our own.
 */
export const openEvents = (deps: EventsDeps, reader: Reader): ReadableStream<Uint8Array> => {
  const { journal, live, clock } = deps;
  const alarm = newAlarm(clock);
  const waiting: string[] = [];
  let waitingBytes = 0;
  let cursor = reader.after;
  let unread = true;
  let ready = false;
  let ended = reader.signal.aborted;
  const endsAtMs = clock.now() + longestMs;

  const onAbort = (): void => {
    ended = true;
    alarm.wake();
  };
  const watching = deps.watch(() => {
    unread = true;
    alarm.wake();
  });
  const release = (): void => {
    ended = true;
    watching[Symbol.dispose]();
    listening[Symbol.dispose]();
    reader.signal.removeEventListener('abort', onAbort);
    alarm.wake();
  };
  reader.signal.addEventListener('abort', onAbort, { once: true });

  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const listening = live.subscribe((frame) => {
    if (!ready || ended) return;
    const text = liveText(frame);
    waitingBytes += text.length;
    if (waitingBytes > maxWaitingBytes) {
      release();
      if (reader.cut === undefined) controller?.error(new Error('the reader is too slow'));
      else reader.cut();
      return;
    }
    waiting.push(text);
    alarm.wake();
  });

  const storedText = async (): Promise<string> => {
    unread = false;
    const frames = await journal.after(cursor, pageSize);
    cursor = frames.at(-1)?.seq ?? cursor;
    unread ||= frames.length === pageSize;
    return frames.map(entryText).join('');
  };
  const waitingText = (): string => {
    waitingBytes = 0;
    return waiting.splice(0).join('');
  };
  /** Live frames go first: those of a message were all sent before its final text was stored. */
  const nextText = async (): Promise<string> => {
    if (waiting.length > 0) return waitingText();
    if (unread) return storedText();
    if (!ready) {
      ready = true;
      return [...live.snapshot(), { type: 'ready' } as const].map(liveText).join('');
    }
    if ((await alarm.sleep(keepAliveMs)) === 'woken') return '';
    unread = true;
    return ': here\n\n';
  };

  /** Empty only when the stream is over. */
  const nextNonEmpty = async (): Promise<string> => {
    for (;;) {
      if (ended || clock.now() >= endsAtMs) return '';
      const text = await nextText();
      if (text !== '') return text;
    }
  };

  return new ReadableStream<Uint8Array>(
    {
      start(opened) {
        controller = opened;
        opened.enqueue(encoder.encode('retry: 1000\n\n'));
      },
      async pull(opened) {
        const text = await nextNonEmpty();
        if (text !== '') {
          opened.enqueue(encoder.encode(text));
          return;
        }
        release();
        opened.close();
      },
      cancel: release,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: bufferBytes }),
  );
};

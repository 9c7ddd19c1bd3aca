import { entryEvent, liveEvent } from '../../src/platforms/web/wire.ts';
import type { JournalFrame, LiveFrame } from '../../src/platforms/web/wire.ts';
import { eventsPath } from './api.ts';

export type Link = 'connecting' | 'open' | 'lost';

export interface ConnectionListener {
  /** Where to go on reading. */
  readonly cursor: () => number;
  readonly onEntry: (frame: JournalFrame) => void;
  readonly onLive: (frame: LiveFrame) => void;
  readonly onLink: (link: Link) => void;
  /** Asked after a failure: the stream itself does not tell why it was refused. Answers whether to go on. */
  readonly mayGoOn: () => Promise<boolean>;
}

export interface Connection {
  retryNow(): void;
  close(): void;
}

const firstWaitMs = 300;
const longestWaitMs = 10_000;
/** A hidden tab gives its stream back after this long: browsers share few connections among all tabs of a site. */
const hiddenAfterMs = 20_000;

/** Holds a stream of events open, coming back with the cursor whenever it breaks. */
export const connect = (listener: ConnectionListener): Connection => {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let closed = false;

  const stop = (): void => {
    source?.close();
    source = undefined;
    clearTimeout(timer);
  };
  const fail = async (): Promise<void> => {
    stop();
    failures += 1;
    listener.onLink('lost');
    if (!(await listener.mayGoOn()) || closed) return;
    const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
    timer = setTimeout(start, waitMs);
  };
  const start = (): void => {
    stop();
    if (closed) return;
    const opened = new EventSource(eventsPath(listener.cursor()));
    source = opened;
    opened.addEventListener('open', () => {
      failures = 0;
      listener.onLink('open');
    });
    opened.addEventListener(entryEvent, (event: MessageEvent<string>) => listener.onEntry(JSON.parse(event.data) as JournalFrame));
    opened.addEventListener(liveEvent, (event: MessageEvent<string>) => listener.onLive(JSON.parse(event.data) as LiveFrame));
    opened.addEventListener('error', () => {
      if (source === opened) void fail();
    });
  };
  const retryNow = (): void => {
    if (source !== undefined || closed) return;
    failures = 0;
    start();
  };

  const background = keepOneInBackground({ pause: stop, resume: retryNow });
  addEventListener('online', retryNow);
  start();
  return {
    retryNow,
    close() {
      closed = true;
      stop();
      background.abort();
      removeEventListener('online', retryNow);
    },
  };
};

/**
 * Of all hidden tabs one keeps its stream, the one that holds the lock; the others pause until somebody looks at them.
 * Without locks (a page that is not served securely) every hidden tab pauses.
 */
const keepOneInBackground = (tab: { readonly pause: () => void; readonly resume: () => void }): AbortController => {
  const end = new AbortController();
  let hiddenTimer: ReturnType<typeof setTimeout> | undefined;
  let shown = new AbortController();
  const hide = (): void => {
    tab.pause();
    if (!('locks' in navigator)) return;
    const hold = (): Promise<void> =>
      new Promise((resolve) => {
        tab.resume();
        shown.signal.addEventListener('abort', () => resolve(), { once: true });
      });
    navigator.locks.request('hermes.background', { signal: shown.signal }, hold).catch((error: unknown) => {
      if (!(error instanceof DOMException && error.name === 'AbortError')) throw error;
    });
  };
  const look = (): void => {
    clearTimeout(hiddenTimer);
    if (document.visibilityState === 'hidden') {
      hiddenTimer = setTimeout(hide, hiddenAfterMs);
      return;
    }
    shown.abort();
    shown = new AbortController();
    tab.resume();
  };
  document.addEventListener('visibilitychange', look, { signal: end.signal });
  end.signal.addEventListener('abort', () => {
    clearTimeout(hiddenTimer);
    shown.abort();
  });
  return end;
};

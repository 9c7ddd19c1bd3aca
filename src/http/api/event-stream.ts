import type { Context } from 'hono';
import type { Clock } from '../../lib/clock.ts';

export interface StreamOptions {
  readonly clock: Clock;
  /** Whether the frames are made to their end although nobody reads them. */
  readonly keep: boolean;
}

/** Proxies and clients give up on a connection that is silent for long. */
const silenceMs = 8_000;

/** The next item, or undefined when there is none for a while. */
const nextWithin = async <T>(next: Promise<T>, clock: Clock): Promise<T | undefined> => {
  const done = new AbortController();
  const silence = clock.sleep(silenceMs, done.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    return await Promise.race([next, silence]);
  } finally {
    done.abort();
  }
};

/** One thing to be sent: `data` as JSON, or as it is when it is a text. */
export interface Frame {
  readonly data: unknown;
  readonly event?: string;
  readonly id?: number;
}

const written = ({ data, event, id }: Frame): string =>
  `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

const drain = async (frames: AsyncGenerator<Frame, void, undefined>): Promise<void> => {
  for await (const _frame of frames) continue;
};

/**
 * Answers with server-sent events as they come, and with comments in between so that the connection is never silent for ten seconds. The frames are pulled no
 * faster than the client reads; when it goes away they are ended, or pulled on by ourselves with `keep`.
 */
export const eventStream = (c: Context, frames: AsyncGenerator<Frame, void, undefined>, options: StreamOptions): Response => {
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<Frame, void>> | undefined;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      next ??= frames.next();
      const result = await nextWithin(next, options.clock);
      if (result === undefined) {
        controller.enqueue(encoder.encode(': keepalive\n\n'));
        return;
      }
      next = undefined;
      if (result.done === true) controller.close();
      else controller.enqueue(encoder.encode(written(result.value)));
    },
    async cancel() {
      if (options.keep) await drain(frames);
      else await frames.return();
    },
  });
  c.header('content-type', 'text/event-stream; charset=utf-8');
  c.header('cache-control', 'no-cache');
  c.header('x-accel-buffering', 'no');
  return c.body(body);
};

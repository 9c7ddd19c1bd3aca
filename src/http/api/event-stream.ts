import type { Context } from 'hono';
import { slept } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';

export interface StreamOptions {
  readonly clock: Clock;
  /** Whether the frames are made to their end although nobody reads them. */
  readonly keep: boolean;
  /** The client has gone away: what the frames wait for is not waited for any more. */
  onGone?(): void;
}

const encoder = new TextEncoder();

const keepalive = encoder.encode(': keepalive\n\n');

/** Proxies and clients give up on a connection that is silent for long. */
const silenceMs = 8_000;

/** One thing to be sent: `data` as JSON, or as it is when it is a text; a comment says nothing to programs. */
export interface Frame {
  readonly data?: unknown;
  readonly event?: string;
  readonly id?: number;
  readonly comment?: string;
}

const written = ({ data, event, id, comment }: Frame): string =>
  comment !== undefined
    ? `: ${comment}\n\n`
    : `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

/** Writes a comment whenever nothing was written for a while, if the client has taken what was. One timer serves the whole stream. */
const fillSilence = async (clock: Clock, stream: { readonly controller: ReadableStreamDefaultController<Uint8Array>; readonly ended: AbortSignal; lastMs(): number }): Promise<void> => {
  const { controller, ended, lastMs } = stream;
  let commentedMs = 0;
  for (;;) {
    const sinceMs = Math.max(lastMs(), commentedMs);
    if (!(await slept(clock, sinceMs + silenceMs - clock.now(), ended))) return;
    if (clock.now() - lastMs() < silenceMs) continue;
    commentedMs = clock.now();
    if ((controller.desiredSize ?? 0) > 0) controller.enqueue(keepalive);
  }
};

/** Frames that are there already are written together, up to about so many characters: a write costs more than a frame. */
const mostTogether = 16_384;

const nextTurn = (): Promise<undefined> => new Promise((resolve) => setImmediate(resolve, undefined));

const drain = async (frames: AsyncGenerator<Frame, void, undefined>): Promise<void> => {
  for await (const _frame of frames) continue;
};

/**
 * Answers with server-sent events as they come, and with comments in between so that the connection is never silent for ten seconds. The frames are pulled no
 * faster than the client reads, but for the next one; when it goes away they are ended, or pulled on by ourselves with `keep`.
 */
export const eventStream = (c: Context, frames: AsyncGenerator<Frame, void, undefined>, options: StreamOptions): Response => {
  const { clock } = options;
  const ended = new AbortController();
  let lastMs = clock.now();
  let coming: Promise<IteratorResult<Frame, void>> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      void fillSilence(clock, { controller, ended: ended.signal, lastMs: () => lastMs });
    },
    async pull(controller) {
      let text = '';
      const write = (): void => {
        lastMs = clock.now();
        if (text !== '') controller.enqueue(encoder.encode(text));
      };
      try {
        let result = await (coming ?? frames.next());
        coming = undefined;
        while (result.done !== true) {
          text += written(result.value);
          coming = frames.next();
          const next = text.length > mostTogether ? undefined : await Promise.race([coming, nextTurn()]);
          if (next === undefined) {
            // Whoever pulls next gets its failure; it must not count as unnoticed until then.
            coming.catch(() => undefined);
            return write();
          }
          coming = undefined;
          result = next;
        }
        write();
        controller.close();
      } catch (error) {
        write();
        controller.error(error);
      }
      ended.abort(null);
    },
    async cancel() {
      ended.abort(null);
      options.onGone?.();
      if (options.keep) await drain(frames);
      else await frames.return();
    },
  });
  c.header('content-type', 'text/event-stream; charset=utf-8');
  c.header('cache-control', 'no-cache');
  c.header('x-accel-buffering', 'no');
  return c.body(body);
};

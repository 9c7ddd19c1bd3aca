import type { MiddlewareHandler } from 'hono';
import { copyRequest } from './copy-request.ts';

const counted = (body: ReadableStream<Uint8Array>, maxBytes: number, onExceeded: () => void): ReadableStream<Uint8Array> => {
  let bytes = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes <= maxBytes) {
          controller.enqueue(chunk);
          return;
        }
        onExceeded();
        controller.error(new RangeError('the request is too large'));
      },
    }),
  );
};

/** Answers 413 to larger bodies, at once when they say their length and else as soon as it shows; keeps nothing in memory. */
export const limitBody =
  (maxBytes: number): MiddlewareHandler =>
  async (c, next) => {
    const tooLarge = () => c.json({ error: 'The request is too large.' }, 413);
    const length = c.req.header('content-length');
    if (length !== undefined) return Number(length) > maxBytes ? tooLarge() : next();
    const body = c.req.raw.body;
    if (body === null) return next();
    let exceeded = false;
    c.req.raw = copyRequest(c.req.raw, { body: counted(body, maxBytes, () => (exceeded = true)) });
    await next();
    if (exceeded) c.res = tooLarge();
    return undefined;
  };

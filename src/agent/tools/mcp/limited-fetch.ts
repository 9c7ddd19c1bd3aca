import type { FetchLike } from '@modelcontextprotocol/client';

/** Counts what belongs to one message: a whole body, or the part of an event stream since the last blank line. */
const limiter = (maxBytes: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> => {
  let open = 0;
  let lastWasNewline = false;
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of isStream ? chunk : []) {
        if (byte === carriageReturn) continue;
        const isNewline = byte === newline;
        open = isNewline && lastWasNewline ? 0 : open + 1;
        lastWasNewline = isNewline;
      }
      if (!isStream) open += chunk.length;
      if (open > maxBytes) controller.error(new Error(`a message of the server is larger than ${Math.round(maxBytes / 1024 / 1024)} MB`));
      else controller.enqueue(chunk);
    },
  });
};

const newline = 10;
const carriageReturn = 13;

/** `fetch` whose answers end with an error when one message in them is larger than `maxBytes`. */
export const limitedFetch =
  (maxBytes: number): FetchLike =>
  async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(limiter(maxBytes, isStream)), { status, statusText, headers });
  };

/**
 * The same request with another address or body. The server's request is not one that the platform's constructor takes as
 * a whole, so its parts are passed on; the body stays a stream.
 */
export const copyRequest = (request: Request, change: { readonly url?: URL; readonly body?: ReadableStream<Uint8Array> }): Request => {
  const { method, headers, signal } = request;
  const body = change.body ?? request.body;
  const streamed = body === null ? {} : { body, duplex: 'half' };
  return new Request(change.url ?? request.url, { method, headers, signal, ...streamed });
};

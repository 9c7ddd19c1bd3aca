export class FrameTooLong extends Error {
  constructor(maxBytes: number) {
    super(`a frame may have up to ${maxBytes} bytes`);
    this.name = 'FrameTooLong';
  }
}

export const encodeFrame = (frame: unknown): string => `${JSON.stringify(frame)}\n`;

const newline = 0x0a;

/** The lines of a byte stream, without their ends. What the stream breaks off in the middle of is dropped: it was never sent whole. */
export async function* readLines(stream: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  let pieces: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      pieces.push(chunk.subarray(start, end));
      if (size + end - start > maxBytes) throw new FrameTooLong(maxBytes);
      yield Buffer.concat(pieces).toString('utf8');
      pieces = [];
      size = 0;
      start = end + 1;
    }
    pieces.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > maxBytes) throw new FrameTooLong(maxBytes);
  }
}

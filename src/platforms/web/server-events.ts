export interface ServerEvent {
  readonly name: string;
  readonly data: string;
  readonly id?: string;
}

const parseEvent = (block: string): ServerEvent | undefined => {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const match = /^(\w+): ?(.*)$/.exec(line);
    if (match !== null) fields.set(match[1] ?? '', match[2] ?? '');
  }
  const data = fields.get('data');
  const id = fields.get('id');
  return data === undefined ? undefined : { name: fields.get('event') ?? 'message', data, ...(id !== undefined && { id }) };
};

/** Events of a `text/event-stream` as our server writes it: single-line data, lines ended by `\n`. */
export async function* readServerEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  let rest = '';
  for await (const text of body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)) {
    const blocks = `${rest}${text}`.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event !== undefined) yield event;
    }
  }
}

import { once } from 'node:events';
import { createConnection } from 'node:net';
import { encodeFrame, readLines } from './frames.ts';
import { protocolVersion } from './wire.ts';
import type { ClientFrame, ServerFrame } from './wire.ts';

export { attachPath } from './socket-place.ts';
export { maxInboundLength } from './wire.ts';
export type { ActivityFrame, ClientFrame, EntryFrame, LocalEntry, LocalFile, ServerFrame } from './wire.ts';

/** One attachment of a terminal to a gateway. */
export interface Attachment extends Disposable {
  send(frame: Exclude<ClientFrame, { type: 'hello' }>): void;
  /** Hangs up after what was sent has left. */
  end(): void;
  /** Resolves when the connection is over, however it ended; with the gateway's reason if it gave one. */
  readonly ended: Promise<Extract<ServerFrame, { type: 'goodbye' }> | undefined>;
}

export interface AttachOptions {
  readonly path: string;
  readonly chat: string;
  /** The last entry that is known here already. */
  readonly after?: number | undefined;
  onFrame(frame: ServerFrame): void;
}

const away = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'EAGAIN']);

/** Whether an attempt failed because no gateway serves there right now. */
export const isAway = (error: unknown): boolean => away.has((error as NodeJS.ErrnoException).code ?? '');

/** Answers come from a gateway of the same user; they are bounded by what it may store. */
const maxServerFrameBytes = 8 * 1024 * 1024;

/** Connects and says hello. Rejects when nobody is there (see `isAway`). */
export const attach = async (options: AttachOptions): Promise<Attachment> => {
  const socket = createConnection(options.path);
  await once(socket, 'connect');
  const send = (frame: ClientFrame): void => {
    if (socket.writable) socket.write(encodeFrame(frame));
  };
  const read = async (): Promise<Extract<ServerFrame, { type: 'goodbye' }> | undefined> => {
    let goodbye: Extract<ServerFrame, { type: 'goodbye' }> | undefined;
    try {
      for await (const line of readLines(socket, maxServerFrameBytes)) {
        const frame = JSON.parse(line) as ServerFrame;
        if (frame.type === 'goodbye') goodbye = frame;
        else options.onFrame(frame);
      }
    } catch (error) {
      // A connection that breaks has ended; what has no code is a fault of ours.
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    } finally {
      socket.destroy();
    }
    return goodbye;
  };
  const ended = read();
  send({ type: 'hello', version: protocolVersion, chat: options.chat, ...(options.after !== undefined && { after: options.after }) });
  return { send, end: () => socket.destroySoon(), ended, [Symbol.dispose]: () => void socket.destroy() };
};

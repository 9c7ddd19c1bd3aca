import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { AccountData, Inbox } from '../contract.ts';
import { openJournalStream } from '../journal-stream.ts';
import type { StreamFormat, StreamSource } from '../journal-stream.ts';
import { seqOfMessage } from '../journal.ts';
import type { Journal, JournalFrame } from '../journal.ts';
import type { Live, LiveFrame } from '../live.ts';
import type { Doing } from './doing.ts';
import { encodeFrame, FrameTooLong, readLines } from './frames.ts';
import { messageEvent, parseClientFrame, pressEvent } from './parse.ts';
import type { Seen } from './seen.ts';
import { maxFrameBytes, protocolVersion } from './wire.ts';
import type { ActivityFrame, ClientFrame, LocalEntry, ServerFrame } from './wire.ts';

export interface ConnectionDeps {
  readonly account: string;
  readonly data: AccountData;
  readonly journal: Journal<LocalEntry>;
  readonly seen: Seen;
  readonly live: Live;
  readonly doing: Doing;
  readonly clock: Clock;
  readonly log: Logger;
}

type Shown = LiveFrame | ActivityFrame;

type GoodbyeCode = Extract<ServerFrame, { type: 'goodbye' }>['code'];

const lines: StreamFormat<JournalFrame<LocalEntry>, Shown> = {
  opening: '',
  entry: ({ seq, atMs, entry }) => encodeFrame({ type: 'entry', seq, atMs, entry } satisfies ServerFrame),
  live: encodeFrame,
  ready: encodeFrame({ type: 'ready' } satisfies ServerFrame),
  keepAlive: '',
};

/** What is told and shown in one chat. */
const sourceOf = ({ journal, live, doing, data, clock }: ConnectionDeps, chat: string): StreamSource<JournalFrame<LocalEntry>, Shown> => ({
  after: (seq, limit) => journal.after(seq, { chat, limit }),
  watch: (listener) => data.watch(listener),
  snapshot: () => [...live.snapshot(), ...doing.snapshot()].filter((frame) => frame.chat === chat),
  subscribe(listener) {
    const mine = (frame: Shown): void => {
      if (frame.chat === chat) listener(frame);
    };
    const stack = new DisposableStack();
    stack.use(live.subscribe(mine));
    stack.use(doing.subscribe(mine));
    return stack;
  },
  clock,
});

/** How many entries are counted for a newcomer. */
const countedUnseen = 200;

/** One terminal. Frames are taken one after the other, so that messages arrive in the order in which they were typed. */
export class Connection {
  readonly #deps: ConnectionDeps;
  readonly #inbox: Inbox;
  readonly #socket: Socket;
  readonly #ended = new AbortController();
  #chat: string | undefined;
  #telling: Promise<void> | undefined;

  constructor(deps: ConnectionDeps, inbox: Inbox, socket: Socket) {
    this.#deps = deps;
    this.#inbox = inbox;
    this.#socket = socket;
  }

  /** Resolves when the terminal is gone or was sent away. Never rejects. */
  async serve(): Promise<void> {
    const { log } = this.#deps;
    try {
      for await (const line of readLines(this.#socket.iterator({ destroyOnReturn: false }), maxFrameBytes)) {
        this.#inbox.alive();
        if (!(await this.#take(line))) break;
      }
    } catch (error) {
      if (error instanceof FrameTooLong) this.leave('protocol', error.message);
      else if (!this.#socket.destroyed) log.warn({ err: error }, 'local.connection_failed');
    } finally {
      this.#ended.abort();
      await this.#telling;
      this.#socket.destroySoon();
    }
  }

  /** Says why, and hangs up. */
  leave(code: GoodbyeCode, reason: string): void {
    this.#ended.abort();
    this.#tell({ type: 'goodbye', code, reason });
    this.#socket.destroySoon();
  }

  #sendAway(code: GoodbyeCode, reason: string): false {
    this.leave(code, reason);
    return false;
  }

  #tell(frame: ServerFrame): void {
    if (this.#socket.writable) this.#socket.write(encodeFrame(frame));
  }

  /** False when the connection is over. */
  async #take(line: string): Promise<boolean> {
    const parsed = parseClientFrame(line);
    if (parsed.type === 'unknown') return true;
    if (parsed.type === 'malformed' && parsed.id !== undefined) {
      this.#tell({ type: 'refused', id: parsed.id, reason: 'This is not a message that can be sent.', again: false });
      return true;
    }
    if (parsed.type === 'malformed') return this.#sendAway('protocol', 'this is not a frame');
    if (parsed.frame.type === 'hello') return this.#greet(parsed.frame);
    if (this.#chat === undefined) return this.#sendAway('protocol', 'the first frame has to be hello');
    await this.#act(parsed.frame, this.#chat);
    return true;
  }

  async #greet(hello: Extract<ClientFrame, { type: 'hello' }>): Promise<boolean> {
    const { journal, seen } = this.#deps;
    if (this.#chat !== undefined) return this.#sendAway('protocol', 'hello was said before');
    if (hello.version !== protocolVersion) return this.#sendAway('version', `the gateway speaks version ${protocolVersion} of the protocol`);
    const { chat } = hello;
    this.#chat = chat;
    // A cursor of another database would hide everything to come.
    const after = Math.min(hello.after ?? (await seen.of(chat)), await journal.last());
    const unseen = (await journal.after(after, { chat, limit: countedUnseen })).length;
    this.#tell({ type: 'welcome', version: protocolVersion, unseen, unseenChats: await seen.waitingBeside(chat) });
    this.#telling = this.#follow(chat, after);
    return true;
  }

  async #follow(chat: string, after: number): Promise<void> {
    const socket = this.#socket;
    const { signal } = this.#ended;
    try {
      for await (const bytes of openJournalStream(sourceOf(this.#deps, chat), lines, { after, signal, cut: () => void socket.destroy() })) {
        if (!socket.write(bytes)) await once(socket, 'drain', { signal });
      }
    } catch (error) {
      if (!signal.aborted && !socket.destroyed) this.#deps.log.warn({ err: error }, 'local.stream_failed');
      socket.destroy();
    }
  }

  async #act(frame: Exclude<ClientFrame, { type: 'hello' }>, chat: string): Promise<void> {
    switch (frame.type) {
      case 'say':
      case 'press':
        return this.#hand(frame, chat);
      case 'seen':
        return this.#deps.seen.mark(chat, frame.seq ?? (await this.#deps.journal.last(chat)));
      default:
        throw frame satisfies never;
    }
  }

  /** Stored for every terminal of the chat first, and accepted once the gateway has it too; until then the terminal tries again. */
  async #hand(frame: Extract<ClientFrame, { type: 'say' | 'press' }>, chat: string): Promise<void> {
    const { journal, clock, account, log } = this.#deps;
    const origin = { account, chat, atMs: clock.now() };
    try {
      if (frame.type === 'press' && !(await this.#exists(frame.messageId, chat))) {
        this.#tell({ type: 'refused', id: frame.id, reason: 'That question is gone.', again: false });
        return;
      }
      const event = frame.type === 'say' ? messageEvent(frame, origin) : pressEvent(frame, origin);
      if (frame.type === 'say') await journal.append(chat, `in:${frame.id}`, { type: 'message', id: frame.id, from: 'owner', text: event.text, files: frame.files ?? [], choices: [] });
      else await journal.append(chat, `press:${frame.id}`, { type: 'press', id: frame.messageId, data: frame.data });
      this.#tell({ type: 'accepted', id: frame.id, outcome: await this.#inbox.accept(event) });
    } catch (error) {
      log.warn({ err: error }, 'local.message_not_stored');
      this.#tell({ type: 'refused', id: frame.id, reason: 'The gateway could not store this.', again: true });
    }
  }

  async #exists(messageId: string, chat: string): Promise<boolean> {
    const seq = seqOfMessage(messageId);
    return seq !== undefined && (await this.#deps.journal.messageAt(chat, seq)) !== undefined;
  }
}

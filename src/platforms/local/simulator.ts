import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { markdownWords } from '../../lib/markdown/words.ts';
import type { PlatformSimulator, VisibleMessage } from '../simulator.ts';
import { attach, isAway } from './client.ts';
import type { Attachment } from './client.ts';
import type { ClientFrame, LocalEntry, ServerFrame } from './wire.ts';

type Sent = Extract<ClientFrame, { type: 'say' | 'press' }>;

const words = (text: string, plain: boolean | undefined): string => (plain === true ? text : markdownWords(text));

/** What one entry does to the messages of the agent that a person sees. */
const apply = (messages: Map<string, VisibleMessage>, chatId: string, entry: LocalEntry): void => {
  const known = messages.get(entry.id);
  switch (entry.type) {
    case 'message':
      if (entry.from === 'owner') return;
      messages.set(entry.id, { id: entry.id, chatId, text: words(entry.text, entry.plain), media: entry.files.map(({ kind, name, path }) => ({ kind, name, bytes: readFileSync(path) })), choices: entry.choices.flat(), reactions: [], edited: 0, ...(entry.replyTo !== undefined && { replyTo: entry.replyTo }) });
      return;
    case 'edit':
      if (known !== undefined) messages.set(entry.id, { ...known, text: words(entry.text, entry.plain), choices: entry.choices.flat(), edited: known.edited + 1 });
      return;
    case 'remove':
      messages.delete(entry.id);
      return;
    case 'press':
      return;
    default:
      entry satisfies never;
  }
};

/** A terminal without a screen: it attaches over the real socket, attaches again when the gateway was away, and shows what a person would see. */
class SimulatedTerminal {
  readonly #path: string;
  readonly #chat: string;
  readonly #closing = new AbortController();
  readonly #messages = new Map<string, VisibleMessage>();
  readonly #sent = new Map<string, Sent>();
  /** Without an answer so far; sent again whenever a connection is made. */
  readonly #pending = new Map<string, { readonly frame: Sent; answered(): void }>();
  readonly typing: string[] = [];
  acknowledged = 0;
  #cursor = 0;
  #attachment: Attachment | undefined;
  #attaching: Promise<void> | undefined;

  constructor(path: string, chat: string) {
    this.#path = path;
    this.#chat = chat;
  }

  start(): void {
    this.#attaching = this.#stayAttached();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#attachment?.[Symbol.dispose]();
    await this.#attaching;
  }

  visible(): readonly VisibleMessage[] {
    return [...this.#messages.values()];
  }

  /** Resolves when the gateway has accepted or refused it. */
  async send(frame: Sent): Promise<string> {
    this.#sent.set(frame.id, frame);
    const answer = Promise.withResolvers<void>();
    this.#pending.set(frame.id, { frame, answered: answer.resolve });
    this.#attachment?.send(frame);
    await answer.promise;
    return frame.id;
  }

  async again(id: string): Promise<void> {
    const frame = this.#sent.get(id);
    if (frame === undefined) throw new Error(`nothing was sent as ${id}`);
    await this.send(frame);
  }

  async raw(frame: object): Promise<void> {
    while (this.#attachment === undefined) await delay(3, undefined, { signal: this.#closing.signal });
    this.#attachment.send(frame as Sent);
  }

  async #stayAttached(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        using attachment = await attach({ path: this.#path, chat: this.#chat, after: this.#cursor, onFrame: (frame) => this.#take(frame) });
        this.#attachment = attachment;
        for (const { frame } of this.#pending.values()) attachment.send(frame);
        await attachment.ended;
      } catch (error) {
        if (!isAway(error)) throw error;
      }
      this.#attachment = undefined;
      await delay(3);
    }
  }

  #take(frame: ServerFrame): void {
    if (frame.type === 'typing') this.typing.push(frame.chat);
    if (frame.type === 'accepted') this.acknowledged += 1;
    if (frame.type === 'accepted' || frame.type === 'refused') {
      this.#pending.get(frame.id)?.answered();
      this.#pending.delete(frame.id);
    }
    if (frame.type !== 'entry') return;
    apply(this.#messages, this.#chat, frame.entry);
    this.#cursor = frame.seq;
  }
}

const fixtures: PlatformSimulator['fixtures'] = [
  { name: 'message', payload: { type: 'say', id: 'm-00000001', text: 'hello' } },
  { name: 'press of a question that is gone', payload: { type: 'press', id: 'p-00000001', messageId: 'a17', data: 'yes' } },
  { name: 'seen', payload: { type: 'seen', seq: 1 } },
];

const chatId = 'chat-one';

/** Terminals as the adapter sees them. */
export const openLocalSimulator = async (): Promise<PlatformSimulator> => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-local-'));
  const options = { socket: join(folder, 's') };
  const terminal = new SimulatedTerminal(options.socket, chatId);
  terminal.start();
  return {
    options,
    badOptions: options,
    secrets: [],
    fixtures,
    places: [{ chatId, chatType: 'dm', senderId: 'owner' }],
    async say({ text, media }) {
      const id = randomUUID();
      if (media === undefined) return terminal.send({ type: 'say', id, text });
      const { name, kind, mime, bytes } = media;
      const path = join(folder, `${id}-${name}`);
      await writeFile(path, bytes);
      return terminal.send({ type: 'say', id, text, files: [{ name, path, kind, mime }] });
    },
    redeliver: (nativeId) => terminal.again(nativeId),
    sendUnknownEvent: () => terminal.raw({ type: 'poll', id: 'poll-00001' }),
    acknowledged: () => terminal.acknowledged,
    visible: (chat) => (chat === chatId ? terminal.visible() : []),
    typing: () => terminal.typing,
    press: (_chat, messageId, data) => terminal.send({ type: 'press', id: randomUUID(), messageId, data }),
    replay: (payload) => terminal.raw(payload as object),
    fail() {
      throw new Error('between the adapter and the journal that terminals read there is no network that could fail');
    },
    async [Symbol.asyncDispose]() {
      await terminal.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

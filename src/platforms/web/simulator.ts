import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { PlatformSimulator, SimulatedMessage, VisibleMessage } from '../simulator.ts';
import { markdownWords } from '../../lib/markdown/words.ts';
import { readServerEvents } from './server-events.ts';
import { entryEvent, fileNameHeader, fileTypeHeader } from './wire.ts';
import type { JournalFrame, LiveFrame, MessageBody, MessageEntry, PressBody, WireEntry, WireFile } from './wire.ts';

interface Shown {
  readonly entry: MessageEntry;
  readonly text: string;
  readonly choices: MessageEntry['choices'];
  readonly media: VisibleMessage['media'];
  readonly reactions: readonly string[];
  readonly edited: number;
}

interface Posted {
  readonly path: string;
  readonly body: MessageBody | PressBody;
}

const words = (text: string, plain: boolean | undefined): string => (plain === true ? text : markdownWords(text));

/** What one entry does to the messages of a chat; a message that does not exist stays untouched. */
const apply = (messages: Map<string, Shown>, entry: Exclude<WireEntry, MessageEntry>): void => {
  const known = 'id' in entry ? messages.get(entry.id) : undefined;
  if (known === undefined) return;
  switch (entry.type) {
    case 'edit':
      messages.set(known.entry.id, { ...known, text: words(entry.text, entry.plain), choices: entry.choices, edited: known.edited + 1 });
      return;
    case 'remove':
      messages.delete(known.entry.id);
      return;
    case 'reaction':
      messages.set(known.entry.id, { ...known, reactions: entry.emoji === null ? [] : [entry.emoji] });
      return;
    case 'press':
    case 'hide':
    case 'name':
      return;
    default:
      entry satisfies never;
  }
};

const visibleMessage = (chatId: string, { entry, ...shown }: Shown): VisibleMessage => ({
  id: entry.id,
  chatId,
  ...(entry.replyTo !== undefined && { replyTo: entry.replyTo }),
  text: shown.text,
  media: shown.media,
  choices: shown.choices.flat(),
  reactions: shown.reactions,
  edited: shown.edited,
});

/** A tab of the page, without the page: it speaks the same API over the same wire and shows what a person would see. */
class Tab {
  readonly #closing = new AbortController();
  readonly #url: string;
  readonly #chats = new Map<string, Map<string, Shown>>();
  readonly typing: string[] = [];
  #cursor = 0;
  #reading: Promise<void> = Promise.resolve();

  constructor(url: string) {
    this.#url = url;
  }

  start(): void {
    this.#reading = this.#read();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#reading;
  }

  visible(chatId: string): readonly VisibleMessage[] {
    return [...(this.#chats.get(chatId)?.values() ?? [])].filter((shown) => shown.entry.from === 'agent').map((shown) => visibleMessage(chatId, shown));
  }

  async #read(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        const answer = await fetch(`${this.#url}/events?after=${this.#cursor}`, { signal });
        if (answer.ok && answer.body !== null) for await (const event of readServerEvents(answer.body)) await this.#take(event.name, event.data);
        await delay(20, undefined, { signal });
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof TypeError)) throw error;
        await delay(20);
      }
    }
  }

  async #take(name: string, data: string): Promise<void> {
    if (name !== entryEvent) {
      const frame = JSON.parse(data) as LiveFrame;
      if (frame.type === 'typing') this.typing.push(frame.chat);
      return;
    }
    const { seq, chat, entry } = JSON.parse(data) as JournalFrame;
    const messages = this.#chats.get(chat) ?? new Map<string, Shown>();
    this.#chats.set(chat, messages);
    if (entry.type === 'message') messages.set(entry.id, { entry, text: words(entry.text, entry.plain), choices: entry.choices, media: await this.#fetchAll(entry.files), reactions: [], edited: 0 });
    else apply(messages, entry);
    this.#cursor = seq;
  }

  #fetchAll(files: readonly WireFile[]): Promise<VisibleMessage['media']> {
    return Promise.all(
      files.map(async ({ id, kind, name }) => {
        const answer = await fetch(`${this.#url}/files/${id}`, { signal: this.#closing.signal });
        return { kind, name, bytes: new Uint8Array(await answer.arrayBuffer()) };
      }),
    );
  }
}

const upload = async (url: string, media: NonNullable<SimulatedMessage['media']>): Promise<string> => {
  const headers = { 'content-type': 'application/octet-stream', [fileNameHeader]: encodeURIComponent(media.name), [fileTypeHeader]: media.mime };
  const answer = await fetch(`${url}/files`, { method: 'POST', headers, body: new Blob([new Uint8Array(media.bytes)]) });
  return ((await answer.json()) as WireFile).id;
};

const fixtures: PlatformSimulator['fixtures'] = [
  { name: 'message', payload: { id: 'm-00000001', text: 'hello', files: [] } },
  { name: 'reply with a file', payload: { id: 'm-00000002', text: '', files: ['file_0000000000aa'], replyTo: 'a17' } },
  { name: 'press', payload: { id: 'p-00000001', messageId: 'a17', data: 'yes' } },
];

/** The page as the adapter sees it. It has to be told where the adapter's routes are before anybody can speak. */
export const openWebSimulator = async (): Promise<PlatformSimulator> => {
  let url: string | undefined;
  let tab: Tab | undefined;
  let acknowledged = 0;
  const posted = new Map<string, Posted>();
  const base = (): string => {
    if (url === undefined) throw new Error('call connect() first');
    return url;
  };
  const post = async ({ path, body }: Posted): Promise<string> => {
    posted.set(body.id, { path, body });
    const answer = await fetch(`${base()}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    await answer.body?.cancel();
    if (answer.ok) acknowledged += 1;
    return body.id;
  };
  return {
    options: {},
    badOptions: {},
    secrets: [],
    fixtures,
    places: [{ chatId: 'chat-one', chatType: 'dm', senderId: 'owner' }],
    async replay(payload) {
      const body = payload as MessageBody | PressBody;
      await post({ path: `/chats/chat-one/${'data' in body ? 'presses' : 'messages'}`, body });
    },
    connect(to) {
      url = to.replace(/\/$/, '');
      tab = new Tab(url);
      tab.start();
    },
    async say(message) {
      const files = message.media === undefined ? [] : [await upload(base(), message.media)];
      const body: MessageBody = { id: randomUUID(), text: message.text, files, ...(message.replyTo !== undefined && { replyTo: message.replyTo }) };
      return post({ path: `/chats/${message.chatId}/messages`, body });
    },
    async redeliver(nativeId) {
      const again = posted.get(nativeId);
      if (again === undefined) throw new Error(`nothing was sent as ${nativeId}`);
      await post(again);
    },
    async sendUnknownEvent() {
      const answer = await fetch(`${base()}/chats/unknown-event/polls`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"id":"poll-00001"}' });
      await answer.body?.cancel();
    },
    acknowledged: () => acknowledged,
    visible: (chatId) => tab?.visible(chatId) ?? [],
    typing: () => tab?.typing ?? [],
    press: (chatId, messageId, data) => post({ path: `/chats/${chatId}/presses`, body: { id: randomUUID(), messageId, data } }),
    fail() {
      throw new Error('between the adapter and the page\'s journal there is no network that could fail');
    },
    [Symbol.asyncDispose]: async () => tab?.close(),
  };
};

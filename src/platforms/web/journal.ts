import type { AccountData, JournalEntry } from '../contract.ts';
import type { JournalFrame, WireChat, WireEntry } from './wire.ts';

/** An entry as it is kept: messages of the agent get their id from their place. */
export type StoredEntry = WireEntry | (Omit<Extract<WireEntry, { type: 'message' }>, 'id'> & { readonly id?: string });

/** The page's side of the conversations, on disk: what happened in each chat, and a line about each. */
export interface Journal {
  /** Answers the entry's number and time. The same key again changes nothing. */
  append(chat: string, key: string, entry: StoredEntry): Promise<number>;
  after(seq: number, limit: number): Promise<readonly JournalFrame[]>;
  older(chat: string, query: { readonly before?: number | undefined; readonly limit: number }): Promise<readonly JournalFrame[]>;
  /** The message with this number, unless the chat does not have it (any more). */
  messageAt(chat: string, seq: number): Promise<JournalFrame | undefined>;
  last(): Promise<number>;
  /** Newest first, without the hidden ones. */
  chats(limit: number): Promise<readonly WireChat[]>;
  /** Notes activity in the chat, which is listed from now on; the first text names it. */
  touch(chat: string, text: string): Promise<void>;
  hide(chat: string): Promise<void>;
}

const agentPrefix = 'a';

export const agentMessageId = (seq: number): string => `${agentPrefix}${seq}`;

/** The number in an id made by `agentMessageId`. */
export const seqOfMessage = (id: string): number | undefined => {
  const match = /^a(\d{1,15})$/.exec(id);
  return match === null ? undefined : Number(match[1]);
};

const toFrame = (row: JournalEntry): JournalFrame => {
  const stored = JSON.parse(row.entry) as StoredEntry;
  const entry = stored.type === 'message' ? { ...stored, id: stored.id ?? agentMessageId(row.seq) } : stored;
  return { seq: row.seq, chat: row.stream, atMs: row.atMs, entry };
};

const titleLength = 60;

const titleOf = (text: string): string => {
  const line = text.replaceAll(/[`*_#>]+/g, '').replaceAll(/\s+/g, ' ').trim();
  if (line.length <= titleLength) return line;
  const cut = line.slice(0, titleLength);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), titleLength / 2)).toWellFormed()}…`;
};

interface ChatLine {
  readonly title: string;
  readonly lastMs: number;
  readonly hidden?: boolean;
}

const chatPrefix = 'chat:';

/** How many entries after a message are searched for its removal. One that comes later still hides it from the page. */
const removalSearch = 200;

export const openJournal = (data: AccountData, now: () => number): Journal => {
  const lineOf = async (chat: string): Promise<ChatLine | undefined> => {
    const value = await data.get(`${chatPrefix}${chat}`);
    return value === undefined ? undefined : (JSON.parse(value) as ChatLine);
  };
  const setLine = (chat: string, line: ChatLine): Promise<void> => data.set(`${chatPrefix}${chat}`, JSON.stringify(line));
  return {
    append: (chat, key, entry) => data.append(chat, key, JSON.stringify(entry)),
    async after(seq, limit) {
      return (await data.read({ after: seq, limit })).map(toFrame);
    },
    async older(chat, query) {
      return (await data.tail({ stream: chat, limit: query.limit, ...(query.before !== undefined && { before: query.before }) })).map(toFrame);
    },
    async messageAt(chat, seq) {
      const [first, ...later] = (await data.read({ stream: chat, after: seq - 1, limit: removalSearch })).map(toFrame);
      if (first?.seq !== seq || first.entry.type !== 'message') return undefined;
      const { id } = first.entry;
      return later.some(({ entry }) => entry.type === 'remove' && entry.id === id) ? undefined : first;
    },
    async last() {
      return (await data.tail({ limit: 1 }))[0]?.seq ?? 0;
    },
    async chats(limit) {
      const lines = await data.list(chatPrefix);
      return lines
        .map(({ key, value }) => ({ id: key.slice(chatPrefix.length), ...(JSON.parse(value) as ChatLine) }))
        .filter((line) => line.hidden !== true)
        .toSorted((a, b) => b.lastMs - a.lastMs)
        .slice(0, limit)
        .map(({ id, title, lastMs }) => ({ id, title, lastMs }));
    },
    async touch(chat, text) {
      const known = (await lineOf(chat))?.title ?? '';
      await setLine(chat, { title: known === '' ? titleOf(text) : known, lastMs: now() });
    },
    async hide(chat) {
      const known = await lineOf(chat);
      if (known !== undefined) await setLine(chat, { ...known, hidden: true });
    },
  };
};

import type { Choice } from '../core/message.ts';
import type { AccountData, JournalEntry } from './contract.ts';

/** A message in a chat that we show ourselves. */
export interface MessageEntry<File> {
  readonly type: 'message';
  readonly id: string;
  readonly from: 'owner' | 'agent';
  readonly text: string;
  readonly plain?: boolean;
  /** Its last words are still to come, by an edit. */
  readonly growing?: boolean;
  readonly files: readonly File[];
  readonly choices: readonly (readonly Choice[])[];
  readonly replyTo?: string;
}

export interface EditEntry {
  readonly type: 'edit';
  readonly id: string;
  readonly text: string;
  readonly plain?: boolean;
  readonly choices: readonly (readonly Choice[])[];
}

/** Something that happened in a chat. What people see is what one gets by applying these in order. */
export type ChatEntry<File> = MessageEntry<File> | EditEntry | { readonly type: 'remove'; readonly id: string } | { readonly type: 'press'; readonly id: string; readonly data: string };

/** An entry with its place in the account's journal. */
export interface JournalFrame<Entry> {
  readonly seq: number;
  readonly chat: string;
  readonly atMs: number;
  readonly entry: Entry;
}

/** An entry as it is kept: messages of the agent get their id from their place. */
export type StoredEntry<Entry> = Entry extends { readonly type: 'message' } ? Omit<Entry, 'id'> & { readonly id?: string } : Entry;

/** The chats of a platform whose other side is ours, on disk. */
export interface Journal<Entry> {
  /** Answers the entry's number. The same key again changes nothing. */
  append(chat: string, key: string, entry: StoredEntry<Entry>): Promise<number>;
  /** What comes after a number, in one chat or in all of them. */
  after(seq: number, query: { readonly chat?: string; readonly limit: number }): Promise<readonly JournalFrame<Entry>[]>;
  older(chat: string, query: { readonly before?: number | undefined; readonly limit: number }): Promise<readonly JournalFrame<Entry>[]>;
  /** The message with this number, unless the chat does not have it (any more). */
  messageAt(chat: string, seq: number): Promise<JournalFrame<Entry> | undefined>;
  /** The number of the newest entry, in one chat or in all of them; 0 when there is none. */
  last(chat?: string): Promise<number>;
}

export const agentMessageId = (seq: number): string => `a${seq}`;

/** The number in an id made by `agentMessageId`. */
export const seqOfMessage = (id: string): number | undefined => {
  const match = /^a(\d{1,15})$/.exec(id);
  return match === null ? undefined : Number(match[1]);
};

/** How many entries after a message are searched for its removal. One that comes later still hides it from its readers. */
const removalSearch = 200;

export const openJournal = <Entry extends { readonly type: string; readonly id?: string }>(data: AccountData): Journal<Entry> => {
  const toFrame = (row: JournalEntry): JournalFrame<Entry> => {
    const stored = JSON.parse(row.entry) as Entry;
    const entry = stored.type === 'message' ? { ...stored, id: stored.id ?? agentMessageId(row.seq) } : stored;
    return { seq: row.seq, chat: row.stream, atMs: row.atMs, entry };
  };
  return {
    append: (chat, key, entry) => data.append(chat, key, JSON.stringify(entry)),
    async after(seq, { chat, limit }) {
      return (await data.read({ after: seq, limit, ...(chat !== undefined && { stream: chat }) })).map(toFrame);
    },
    async older(chat, query) {
      return (await data.tail({ stream: chat, limit: query.limit, ...(query.before !== undefined && { before: query.before }) })).map(toFrame);
    },
    async messageAt(chat, seq) {
      const [first, ...later] = (await data.read({ stream: chat, after: seq - 1, limit: removalSearch })).map(toFrame);
      if (first?.seq !== seq || first.entry.type !== 'message') return undefined;
      return later.some(({ entry }) => entry.type === 'remove' && entry.id === first.entry.id) ? undefined : first;
    },
    async last(chat) {
      return (await data.tail({ limit: 1, ...(chat !== undefined && { stream: chat }) }))[0]?.seq ?? 0;
    },
  };
};

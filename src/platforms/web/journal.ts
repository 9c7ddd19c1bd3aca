import type { AccountData } from '../contract.ts';
import { openJournal } from '../journal.ts';
import type { Journal } from '../journal.ts';
import type { WireChat, WireEntry } from './wire.ts';

/** The page's side of the conversations: what happened in each chat, and a line about each. */
export interface WebJournal extends Journal<WireEntry> {
  /** Newest first, without the hidden ones. */
  chats(limit: number): Promise<readonly WireChat[]>;
  /** Notes activity in the chat, which is listed from now on; the first text names it. */
  touch(chat: string, text: string): Promise<void>;
  hide(chat: string): Promise<void>;
  /** In place of the name that its first text has given it. A chat that is hidden stays so. */
  rename(chat: string, name: string): Promise<void>;
}

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

export const openWebJournal = (data: AccountData, now: () => number): WebJournal => {
  /** Again when somebody else has changed it meanwhile: an answer and a new name may come in the same moment. */
  const changeLine = async (chat: string, next: (known: ChatLine | undefined) => ChatLine | undefined): Promise<void> => {
    const key = `${chatPrefix}${chat}`;
    for (;;) {
      const from = await data.get(key);
      const line = next(from === undefined ? undefined : (JSON.parse(from) as ChatLine));
      if (line === undefined || (await data.change({ key, from, to: JSON.stringify(line), set: new Map(), remove: [] }))) return;
    }
  };
  return {
    ...openJournal<WireEntry>(data),
    async chats(limit) {
      const lines = await data.list(chatPrefix);
      return lines
        .map(({ key, value }) => ({ id: key.slice(chatPrefix.length), ...(JSON.parse(value) as ChatLine) }))
        .filter((line) => line.hidden !== true)
        .toSorted((a, b) => b.lastMs - a.lastMs)
        .slice(0, limit)
        .map(({ id, title, lastMs }) => ({ id, title, lastMs }));
    },
    touch: (chat, text) => changeLine(chat, (known) => ({ title: known?.title || titleOf(text), lastMs: now() })),
    hide: (chat) => changeLine(chat, (known) => known && { ...known, hidden: true }),
    rename: (chat, name) => changeLine(chat, (known) => known && { ...known, title: name }),
  };
};

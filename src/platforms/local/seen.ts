import type { AccountData } from '../contract.ts';
import type { Journal } from '../journal.ts';
import type { LocalEntry } from './wire.ts';

/** How far each chat has been seen by somebody at a terminal. */
export interface Seen {
  of(chat: string): Promise<number>;
  /** Never goes back. */
  mark(chat: string, seq: number): Promise<void>;
  /** Other chats with an answer that nobody has seen, among what was said lately. */
  waitingBeside(chat: string): Promise<number>;
  /** Forgets the oldest when there are too many to keep. */
  prune(): Promise<void>;
}

const prefix = 'seen:';
const mostChats = 1000;
const lately = 200;

export const openSeen = (data: AccountData, journal: Journal<LocalEntry>): Seen => {
  const of = async (chat: string): Promise<number> => Number((await data.get(`${prefix}${chat}`)) ?? 0);
  return {
    of,
    async mark(chat, seq) {
      if (seq > (await of(chat))) await data.set(`${prefix}${chat}`, String(seq));
    },
    async waitingBeside(chat) {
      const last = await journal.last();
      const newest = new Map<string, number>();
      for (const frame of await journal.after(Math.max(0, last - lately), { limit: lately })) {
        const isAnswer = frame.entry.type === 'edit' || (frame.entry.type === 'message' && frame.entry.from === 'agent' && frame.entry.growing !== true);
        if (isAnswer && frame.chat !== chat) newest.set(frame.chat, frame.seq);
      }
      let waiting = 0;
      for (const [other, seq] of newest) if (seq > (await of(other))) waiting += 1;
      return waiting;
    },
    async prune() {
      const all = await data.list(prefix);
      const oldest = all.toSorted((a, b) => Number(a.value) - Number(b.value)).slice(0, Math.max(0, all.length - mostChats));
      for (const { key } of oldest) await data.remove(key);
    },
  };
};

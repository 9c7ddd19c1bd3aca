import type { AccountData } from '../contract.ts';

/** Where a call that is answered together with others is to be found. */
export interface CoalescedCall {
  readonly chatId: string;
  /** Grows with each call of the chat: an answer to one answers all before it that were still without. */
  readonly order: number;
}

/** Which calls are answered together. */
export interface CoalescedCalls {
  /** Noted before it is stored, in the order in which calls of a chat are stored. The same delivery again stays what it was. */
  note(route: string, delivery: string, at: { readonly chatId: string; readonly nowMs: number }): Promise<void>;
  find(route: string, delivery: string): Promise<CoalescedCall | undefined>;
  forget(beforeMs: number): Promise<void>;
}

const prefix = 'coalesced:';

const keyOf = (route: string, delivery: string): string => `${prefix}${route}/${delivery}`;

type Kept = CoalescedCall & { readonly atMs: number };

const read = (value: string): Kept => JSON.parse(value) as Kept;

export const openCoalescedCalls = (data: AccountData): CoalescedCalls => ({
  async note(route, delivery, { chatId, nowMs }) {
    const order = await data.append(`calls:${chatId}`, delivery, '');
    await data.set(keyOf(route, delivery), JSON.stringify({ chatId, order, atMs: nowMs } satisfies Kept));
  },
  async find(route, delivery) {
    const kept = await data.get(keyOf(route, delivery));
    return kept === undefined ? undefined : read(kept);
  },
  async forget(beforeMs) {
    for (const { key, value } of await data.list(prefix)) if (read(value).atMs < beforeMs) await data.remove(key);
  },
});

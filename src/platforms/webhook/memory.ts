import { createHash } from 'node:crypto';
import type { AccountData } from '../contract.ts';

/** What calls are known again by, for longer than the inbox remembers them. */
export interface CallMemory {
  knows(route: string, keys: readonly string[]): Promise<boolean>;
  keep(route: string, keys: readonly string[], nowMs: number): Promise<void>;
  /** Forgets what was kept before, and of too much the oldest. */
  forget(beforeMs: number): Promise<void>;
}

const prefix = 'seen:';
const shelves = [...'0123456789abcdef'];
/** Sixteen times this is what an account remembers at most. */
const mostOnShelf = 10_000;

/** Spread over shelves, so that one can be tidied up at a time. */
const keyOf = (route: string, key: string): string => `${prefix}${createHash('sha256').update(`${route}\n${key}`).digest('hex').slice(0, 40)}`;

export const newCallMemory = (data: Pick<AccountData, 'get' | 'set' | 'list' | 'remove'>, most = mostOnShelf): CallMemory => ({
  async knows(route, keys) {
    for (const key of keys) if ((await data.get(keyOf(route, key))) !== undefined) return true;
    return false;
  },
  async keep(route, keys, nowMs) {
    for (const key of keys) await data.set(keyOf(route, key), String(nowMs));
  },
  async forget(beforeMs) {
    for (const shelf of shelves) {
      const newestFirst = (await data.list(`${prefix}${shelf}`)).map(({ key, value }) => ({ key, atMs: Number(value) })).toSorted((a, b) => b.atMs - a.atMs);
      for (const [index, { key, atMs }] of newestFirst.entries()) if (index >= most || atMs < beforeMs) await data.remove(key);
    }
  },
});

import type { AccountData } from '../contract.ts';

/** What calls are known again by, for longer than the inbox remembers them. */
export interface CallMemory {
  knows(route: string, keys: readonly string[]): Promise<boolean>;
  keep(route: string, keys: readonly string[], nowMs: number): Promise<void>;
  /** Forgets what was kept before. */
  forget(beforeMs: number): Promise<void>;
}

const prefix = 'seen:';

export const newCallMemory = (data: Pick<AccountData, 'get' | 'set' | 'list' | 'remove'>): CallMemory => {
  const keyOf = (route: string, key: string): string => `${prefix}${route}:${key}`;
  return {
    async knows(route, keys) {
      for (const key of keys) if ((await data.get(keyOf(route, key))) !== undefined) return true;
      return false;
    },
    async keep(route, keys, nowMs) {
      for (const key of keys) await data.set(keyOf(route, key), String(nowMs));
    },
    async forget(beforeMs) {
      for (const { key, value } of await data.list(prefix)) if (Number(value) < beforeMs) await data.remove(key);
    },
  };
};

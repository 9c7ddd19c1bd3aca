import type { AccountData } from '../contract.ts';

/** Discord does not tell a bot which direct chats it has, so those that people have written in are remembered. */
export interface DirectChats {
  seen(channelId: string, nowMs: number): Promise<void>;
  /** The most recent first. */
  list(): Promise<readonly string[]>;
}

const prefix = 'dm:';
const refreshMs = 24 * 3600 * 1000;
const forgetMs = 90 * refreshMs;
const mostListed = 500;

export const newDirectChats = (data: AccountData): DirectChats => {
  const fresh = new Map<string, number>();
  return {
    async seen(channelId, nowMs) {
      if (nowMs - (fresh.get(channelId) ?? 0) < refreshMs) return;
      await data.set(prefix + channelId, String(nowMs));
      fresh.set(channelId, nowMs);
    },
    async list() {
      const known = (await data.list(prefix)).map(({ key, value }) => ({ key, atMs: Number(value) })).toSorted((a, b) => b.atMs - a.atMs);
      const newestMs = known[0]?.atMs ?? 0;
      const kept = known.filter(({ atMs }, index) => index < mostListed && newestMs - atMs < forgetMs);
      for (const { key } of known.filter((chat) => !kept.includes(chat))) await data.remove(key);
      return kept.map(({ key }) => key.slice(prefix.length));
    },
  };
};

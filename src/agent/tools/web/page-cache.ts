import type { Clock } from '../../../lib/clock.ts';

/** A page that was fetched, kept so that its further parts are those of the same page. */
export interface KeptPage {
  readonly url: string;
  readonly title: string | undefined;
  readonly text: string;
  readonly cut: boolean;
}

export interface PageCache {
  get(key: string): KeptPage | undefined;
  set(key: string, page: KeptPage): void;
}

const keptMs = 600_000;
const maxChars = 10_000_000;

/** Holds the newest pages, for ten minutes and ten million characters at most. */
export const newPageCache = (clock: Clock): PageCache => {
  const pages = new Map<string, { readonly page: KeptPage; readonly atMs: number }>();
  let chars = 0;
  const drop = (key: string): void => {
    chars -= pages.get(key)?.page.text.length ?? 0;
    pages.delete(key);
  };
  return {
    get(key) {
      const kept = pages.get(key);
      if (kept !== undefined && clock.now() - kept.atMs > keptMs) drop(key);
      return pages.get(key)?.page;
    },
    set(key, page) {
      drop(key);
      pages.set(key, { page, atMs: clock.now() });
      chars += page.text.length;
      for (const [oldest, { atMs }] of pages) {
        if (chars <= maxChars && clock.now() - atMs <= keptMs) break;
        drop(oldest);
      }
    },
  };
};

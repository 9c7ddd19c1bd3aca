import { newClientId } from './api.ts';
import { newStore } from './store.ts';
import type { Store } from './store.ts';

/** A short word to the person that goes away by itself. */
export interface Notice {
  readonly id: string;
  readonly text: string;
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
}

export interface Notices {
  readonly items: Store<readonly Notice[]>;
  notify(text: string, action?: Notice['action']): void;
  drop(id: string): void;
}

export const noticeMs = 6_000;
const mostShown = 3;

export const newNotices = (): Notices => {
  const items = newStore<readonly Notice[]>([]);
  const drop = (id: string): void => items.set((now) => now.filter((notice) => notice.id !== id));
  return {
    items,
    drop,
    notify(text, action) {
      const id = newClientId();
      items.set((now) => [...now, { id, text, action }].slice(-mostShown));
      setTimeout(() => drop(id), noticeMs);
    },
  };
};

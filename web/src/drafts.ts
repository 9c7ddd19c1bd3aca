import type { WireFile } from '../../src/platforms/web/wire.ts';
import { keep } from './kept.ts';
import { newStore } from './store.ts';
import type { Store } from './store.ts';

/** What was written in a chat and not sent. */
export interface Draft {
  readonly text: string;
  readonly files: readonly WireFile[];
  readonly replyTo?: string | undefined;
}

export interface Drafts {
  readonly items: Store<Readonly<Record<string, Draft>>>;
  change(chat: string, update: Partial<Draft>): void;
  clear(chat: string): void;
}

export const emptyDraft: Draft = { text: '', files: [] };

const maxDrafts = 50;

/** Drafts survive a reload; an empty one is forgotten, and of many the oldest give way. */
export const openDrafts = (): Drafts => {
  const kept = keep<Readonly<Record<string, Draft>>>('drafts', {});
  const items = newStore(kept.read());
  const write = (chat: string, draft: Draft): void => {
    items.set(({ [chat]: _, ...rest }) => {
      const isEmpty = draft.text === '' && draft.files.length === 0 && draft.replyTo === undefined;
      return isEmpty ? rest : Object.fromEntries(Object.entries({ ...rest, [chat]: draft }).slice(-maxDrafts));
    });
    kept.write(items.get());
  };
  return {
    items,
    change: (chat, update) => write(chat, { ...(items.get()[chat] ?? emptyDraft), ...update }),
    clear: (chat) => write(chat, emptyDraft),
  };
};

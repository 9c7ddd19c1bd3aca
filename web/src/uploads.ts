import { maxFileBytes, maxFilesPerMessage } from '../../src/platforms/web/wire.ts';
import { ApiError, newClientId, uploadFile } from './api.ts';
import type { Drafts } from './drafts.ts';
import { sizeOf } from './format.ts';
import type { Notices } from './notices.ts';
import { newStore } from './store.ts';
import type { Store } from './store.ts';

/** A file on its way up. */
export interface Upload {
  readonly id: string;
  readonly chat: string;
  readonly name: string;
  /** From 0 to 1. */
  readonly part: number;
  readonly cancel: () => void;
}

export interface Uploads {
  readonly items: Store<readonly Upload[]>;
  /** Sends the files up and puts them into the chat's draft when they have arrived. */
  add(chat: string, files: readonly File[]): void;
}

export const newUploads = (drafts: Drafts, notices: Notices): Uploads => {
  const items = newStore<readonly Upload[]>([]);
  const upload = async (chat: string, file: File): Promise<void> => {
    const cancelling = new AbortController();
    const id = newClientId();
    const onProgress = (part: number): void => items.set((all) => all.map((one) => (one.id === id ? { ...one, part } : one)));
    items.set((all) => [...all, { id, chat, name: file.name, part: 0, cancel: () => cancelling.abort() }]);
    try {
      const stored = await uploadFile(file, { onProgress, signal: cancelling.signal });
      const { files } = drafts.items.get()[chat] ?? { files: [] };
      drafts.change(chat, { files: [...files, stored] });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (!cancelling.signal.aborted) notices.notify(`${file.name}: ${error.message}`, { label: 'Try again', run: () => void upload(chat, file) });
    } finally {
      items.set((all) => all.filter((one) => one.id !== id));
    }
  };
  return {
    items,
    add(chat, files) {
      const room = maxFilesPerMessage - (drafts.items.get()[chat]?.files.length ?? 0) - items.get().filter((one) => one.chat === chat).length;
      if (files.length > room) notices.notify(`A message can have ${maxFilesPerMessage} files.`);
      for (const file of files.slice(0, Math.max(0, room))) {
        if (file.size > maxFileBytes) notices.notify(`${file.name} is larger than ${sizeOf(maxFileBytes)}.`);
        else void upload(chat, file);
      }
    },
  };
};

import type { WireFile } from '../../src/platforms/web/wire.ts';
import { ApiError, newClientId, postMessage } from './api.ts';
import { keep } from './kept.ts';
import { newStore } from './store.ts';
import type { Store } from './store.ts';

/** A message on its way. It stays here, also across reloads, until the gateway has it. */
export interface Outgoing {
  readonly id: string;
  readonly chat: string;
  readonly text: string;
  readonly files: readonly WireFile[];
  readonly replyTo?: string;
  readonly atMs: number;
  /** Why the gateway refused it for good. */
  readonly refused?: string;
  /** The gateway has it; it is shown from here until it comes back as a message. */
  readonly stored?: true;
}

export interface Outbox {
  readonly items: Store<readonly Outgoing[]>;
  send(message: Pick<Outgoing, 'chat' | 'text' | 'files'> & { readonly replyTo?: string | undefined }): void;
  retry(id: string): void;
  discard(id: string): void;
  /** Tries everything that waits, one after the other so that the order holds. */
  flush(): Promise<void>;
}

const bodyOf = ({ id, text, files, replyTo }: Outgoing) => ({ id, text, files: files.map((file) => file.id), ...(replyTo !== undefined && { replyTo }) });

const isWaiting = (item: Outgoing): boolean => item.refused === undefined && item.stored === undefined;

const firstWaitMs = 1_000;
const longestWaitMs = 15_000;

export const openOutbox = (onLoggedOut: () => void): Outbox => {
  const kept = keep<readonly Outgoing[]>('outbox', []);
  kept.write(kept.read().filter((item) => item.stored === undefined));
  const items = newStore(kept.read());
  kept.follow(() => items.set(() => kept.read()));
  /** Another tab may have added or taken items, so every change starts from what is stored. */
  const change = (update: (all: readonly Outgoing[]) => readonly Outgoing[]): void => {
    kept.write(update(kept.read()));
    items.set(() => kept.read());
  };
  const discard = (id: string): void => change((all) => all.filter((item) => item.id !== id));
  const patch = (id: string, update: (item: Outgoing) => Outgoing): void => change((all) => all.map((item) => (item.id === id ? update(item) : item)));

  /** Answers whether to go on with the next one. */
  const tryOne = async (item: Outgoing): Promise<boolean> => {
    try {
      await postMessage(item.chat, bodyOf(item));
      patch(item.id, (one) => ({ ...one, stored: true }));
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401) onLoggedOut();
      if (error.passing) return false;
      patch(item.id, (one) => ({ ...one, refused: error.message }));
      return true;
    }
  };
  let failures = 0;
  let flushing = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = async (): Promise<void> => {
    if (flushing) return;
    flushing = true;
    clearTimeout(timer);
    let item = kept.read().find(isWaiting);
    while (item !== undefined && (await tryOne(item))) {
      failures = 0;
      item = kept.read().find(isWaiting);
    }
    flushing = false;
    if (item === undefined) return;
    failures += 1;
    timer = setTimeout(() => void flush(), Math.min(longestWaitMs, firstWaitMs * 2 ** (failures - 1)));
  };

  return {
    items,
    discard,
    flush,
    send({ replyTo, ...message }) {
      change((all) => [...all, { ...message, id: newClientId(), atMs: Date.now(), ...(replyTo !== undefined && { replyTo }) }]);
      void flush();
    },
    retry(id) {
      patch(id, ({ refused: _, ...item }) => item);
      void flush();
    },
  };
};

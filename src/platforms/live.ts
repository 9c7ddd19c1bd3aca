/** What is shown now and never stored. `live` replaces the text of a message from `at` on. */
export type LiveFrame =
  | { readonly type: 'typing'; readonly chat: string; readonly forMs: number }
  | { readonly type: 'live'; readonly chat: string; readonly id: string; readonly at: number; readonly text: string }
  | { readonly type: 'notice'; readonly chat: string; readonly text: string };

/** What is shown now: answers as they grow, and who is typing. It is lost with the process, and nothing depends on it. */
export interface Live {
  isGrowing(id: string): boolean;
  preview(chat: string, id: string, text: string): void;
  /** The message has its final text, or is gone. */
  settle(id: string): void;
  typing(chat: string, forMs: number): void;
  notice(chat: string, text: string): void;
  /** What somebody who joins now has to be told first. */
  snapshot(): readonly LiveFrame[];
  subscribe(listener: (frame: LiveFrame) => void): Disposable;
}

const maxPreviews = 100;

const commonLength = (a: string, b: string): number => {
  if (b.startsWith(a)) return a.length;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
};

export const newLive = (now: () => number): Live => {
  const previews = new Map<string, { readonly chat: string; readonly text: string }>();
  const typingUntil = new Map<string, number>();
  const listeners = new Set<(frame: LiveFrame) => void>();
  const tell = (frame: LiveFrame): void => {
    for (const listener of listeners) listener(frame);
  };
  return {
    isGrowing: (id) => previews.has(id),
    preview(chat, id, text) {
      const at = commonLength(previews.get(id)?.text ?? '', text);
      const oldest = previews.size >= maxPreviews && !previews.has(id) ? previews.keys().next().value : undefined;
      if (oldest !== undefined) previews.delete(oldest);
      previews.set(id, { chat, text });
      tell({ type: 'live', chat, id, at, text: text.slice(at) });
    },
    settle(id) {
      previews.delete(id);
    },
    typing(chat, forMs) {
      for (const [other, untilMs] of typingUntil) if (untilMs <= now()) typingUntil.delete(other);
      typingUntil.set(chat, now() + forMs);
      tell({ type: 'typing', chat, forMs });
    },
    notice(chat, text) {
      tell({ type: 'notice', chat, text });
    },
    snapshot: () => [
      ...[...typingUntil].filter(([, untilMs]) => untilMs > now()).map(([chat, untilMs]): LiveFrame => ({ type: 'typing', chat, forMs: untilMs - now() })),
      ...[...previews].map(([id, { chat, text }]): LiveFrame => ({ type: 'live', chat, id, at: 0, text })),
    ],
    subscribe(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
};

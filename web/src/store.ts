import { useEffect, useRef, useState } from 'preact/hooks';

/** A value that components can follow. */
export interface Store<S> {
  get(): S;
  set(change: (state: S) => S): void;
  subscribe(listener: () => void): () => void;
}

export const newStore = <S>(initial: S): Store<S> => {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => state,
    set(change) {
      const next = change(state);
      if (Object.is(next, state)) return;
      state = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};

/** The selected part; the component renders again only when that part is another value. */
export const useStore = <S, T>(store: Store<S>, select: (state: S) => T): T => {
  const [, render] = useState(0);
  const selecting = useRef(select);
  selecting.current = select;
  const value = select(store.get());
  const shown = useRef(value);
  shown.current = value;
  useEffect(() => {
    const look = (): void => {
      if (!Object.is(selecting.current(store.get()), shown.current)) render((count) => count + 1);
    };
    look();
    return store.subscribe(look);
  }, [store]);
  return value;
};

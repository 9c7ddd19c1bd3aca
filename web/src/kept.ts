/** Reads and writes JSON in the browser's storage. What does not fit there lives as long as the tab. */
export interface Kept<T> {
  read(): T;
  write(value: T): void;
  /** Called when another tab has written. */
  follow(listener: () => void): () => void;
}

export const keep = <T>(key: string, empty: T): Kept<T> => {
  const name = `hermes.${key}`;
  let unsaved: { readonly value: T } | undefined;
  return {
    read() {
      if (unsaved !== undefined) return unsaved.value;
      const text = localStorage.getItem(name);
      return text === null ? empty : (JSON.parse(text) as T);
    },
    write(value) {
      try {
        localStorage.setItem(name, JSON.stringify(value));
        unsaved = undefined;
      } catch (error) {
        if (!(error instanceof DOMException)) throw error;
        unsaved = { value };
      }
    },
    follow(listener) {
      const onStorage = (event: StorageEvent): void => {
        if (event.key === name || event.key === null) listener();
      };
      addEventListener('storage', onStorage);
      return () => removeEventListener('storage', onStorage);
    },
  };
};

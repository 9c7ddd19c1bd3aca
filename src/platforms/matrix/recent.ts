/** The newest entries of a map; older ones fall out. */
export interface Recent<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
}

export const newRecent = <Value>(limit: number): Recent<Value> => {
  const entries = new Map<string, Value>();
  return {
    get: (key) => entries.get(key),
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size > limit) entries.delete(entries.keys().next().value ?? '');
    },
    delete: (key) => void entries.delete(key),
  };
};

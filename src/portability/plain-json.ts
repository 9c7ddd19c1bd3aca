export type Plain = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is Plain => typeof value === 'object' && value !== null && !Array.isArray(value);

/** What stands at a path; undefined where there is none. */
export const at = (root: unknown, ...path: readonly string[]): unknown => path.reduce<unknown>((value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined), root);

/** A text that says something, or a number as one; undefined for everything else. */
export const wordAt = (root: unknown, ...path: readonly string[]): string | undefined => {
  const value = at(root, ...path);
  const word = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
  return word === '' ? undefined : word;
};

/** A row of digits that no number can hold as it is written is an id, and stays text. */
const exact = (_key: string, value: unknown, written?: { readonly source?: string }): unknown => {
  const source = written?.source;
  return typeof value === 'number' && source !== undefined && /^\d+$/.test(source) && String(value) !== source ? source : value;
};

/** JSON, or undefined for anything else. */
export const parsed = (text: unknown): unknown => {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text, exact) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

const reference = /\$\$\{|\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

export interface Substituted {
  readonly text: string;
  /** Variables whose values are now part of the text. */
  readonly used: readonly string[];
  /** Variables that are not set and have no default; their place is left as it was. */
  readonly unset: readonly string[];
}

/** Replaces `${NAME}` and `${NAME:-default}`; `$${` stands for a literal `${`. Values are not searched again. */
export const substitute = (text: string, lookup: (name: string) => string | undefined): Substituted => {
  const used: string[] = [];
  const unset: string[] = [];
  const replaced = text.replace(reference, (whole: string, name: string | undefined, fallback: string | undefined) => {
    if (name === undefined) return '${';
    const value = lookup(name);
    if (value !== undefined) {
      used.push(name);
      return value;
    }
    if (fallback !== undefined) return fallback;
    unset.push(name);
    return whole;
  });
  return { text: replaced, used, unset };
};

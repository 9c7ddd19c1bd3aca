type MenuEntry = { readonly name: string; readonly description: string };

/** The longest name that menus of platforms take. */
const maxMenuName = 32;

/** A name as menus accept it: lower case, letters, digits and `_` only; empty when nothing is left. */
export const menuName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll('-', '_')
    .replaceAll(/[^a-z0-9_]/g, '')
    .replaceAll(/_{2,}/g, '_')
    .replaceAll(/^_+|_+$/g, '');

/** A place for a name among those taken: itself, or cut with a digit at its end when it had to be cut and the cut one is taken. */
const placeFor = (name: string, taken: ReadonlySet<string>): string | undefined => {
  const cut = name.slice(0, maxMenuName);
  if (!taken.has(cut)) return cut;
  if (cut === name) return undefined;
  return Array.from({ length: 10 }, (_, digit) => `${name.slice(0, maxMenuName - 1)}${digit}`).find((numbered) => !taken.has(numbered));
};

/** Entries with names that fit, each once and none of the reserved ones, in order; what finds no place is left out. */
export const clampEntries = <Entry extends MenuEntry>(entries: readonly Entry[], reserved: Iterable<string> = []): readonly Entry[] => {
  const taken = new Set(reserved);
  return entries.flatMap((entry) => {
    const place = entry.name === '' ? undefined : placeFor(entry.name, taken);
    if (place === undefined) return [];
    taken.add(place);
    return [{ ...entry, name: place }];
  });
};

export interface MenuOrder {
  readonly max_commands: number;
  /** `prepend` and `append` move the named ones to that end; `replace` shows only them. */
  readonly priority_mode: 'prepend' | 'append' | 'replace';
  readonly priority: readonly string[];
}

/** The menu as its owner wants it: the named commands in their order at one end, or alone. */
export const orderMenu = <Entry extends MenuEntry>(entries: readonly Entry[], { max_commands, priority_mode, priority }: MenuOrder): readonly Entry[] => {
  const wanted = priority.map(menuName);
  const named = wanted.flatMap((name) => entries.filter((entry) => menuName(entry.name) === name).slice(0, 1));
  const others = entries.filter((entry) => !named.includes(entry));
  const ordered = named.length === 0 ? entries : { prepend: [...named, ...others], append: [...others, ...named], replace: named }[priority_mode];
  return ordered.slice(0, max_commands);
};

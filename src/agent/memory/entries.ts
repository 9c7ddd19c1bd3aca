/** `memory`: what the agent noted for itself. `user`: what it knows about the person. */
export type MemoryTarget = 'memory' | 'user';

export type MemoryChange =
  | { readonly action: 'add'; readonly content: string }
  | { readonly action: 'replace'; readonly oldText: string; readonly content: string }
  | { readonly action: 'remove'; readonly oldText: string };

export type ChangeOutcome =
  | { readonly type: 'changed'; readonly entries: readonly string[] }
  | { readonly type: 'duplicate' }
  /** No entry contains the text, or several do. */
  | { readonly type: 'no_match' | 'several_match'; readonly matches: readonly string[] }
  | { readonly type: 'too_long'; readonly sizeChars: number }
  | { readonly type: 'empty' }
  /** The text would be read back as two entries. */
  | { readonly type: 'has_separator' };

const separator = '\n§\n';
const separatorLine = /^[^\S\n]*§[^\S\n]*$/m;

/** White space around entries and line ends of other systems do not matter; empty entries are none. */
export const parseEntries = (text: string): readonly string[] =>
  text
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .split(/^[^\S\n]*§[^\S\n]*$/m)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

export const joinEntries = (entries: readonly string[]): string => entries.join(separator);

/** In characters as people count them, of the text as it stands in the file. */
export const sizeOfEntries = (entries: readonly string[]): number => Array.from(joinEntries(entries)).length;

/** The entry that is exactly the text, else the only one that contains it. */
const find = (entries: readonly string[], text: string): number | Extract<ChangeOutcome, { type: 'no_match' | 'several_match' }> => {
  const wanted = text.trim();
  const exact = entries.indexOf(wanted);
  if (exact !== -1) return exact;
  const matches = wanted === '' ? [] : entries.filter((entry) => entry.includes(wanted));
  const [first, ...others] = matches;
  if (first === undefined) return { type: 'no_match', matches: [] };
  return others.length > 0 ? { type: 'several_match', matches } : entries.indexOf(first);
};

const within = (before: readonly string[], after: readonly string[], limitChars: number): ChangeOutcome => {
  const sizeChars = sizeOfEntries(after);
  // A file that people made too long may still be made shorter.
  return sizeChars > limitChars && sizeChars >= sizeOfEntries(before) ? { type: 'too_long', sizeChars } : { type: 'changed', entries: after };
};

/** What the entries are after a change, or why they stay as they are. */
export const changeEntries = (entries: readonly string[], change: MemoryChange, limitChars: number): ChangeOutcome => {
  if (change.action === 'remove') {
    const at = find(entries, change.oldText);
    return typeof at === 'number' ? { type: 'changed', entries: entries.toSpliced(at, 1) } : at;
  }
  const content = change.content.replace(/\r\n?/g, '\n').trim().toWellFormed();
  if (content === '') return { type: 'empty' };
  if (separatorLine.test(content)) return { type: 'has_separator' };
  if (change.action === 'add') return entries.includes(content) ? { type: 'duplicate' } : within(entries, [...entries, content], limitChars);
  const at = find(entries, change.oldText);
  if (typeof at !== 'number') return at;
  const others = entries.toSpliced(at, 1);
  return within(entries, others.includes(content) ? others : entries.with(at, content), limitChars);
};

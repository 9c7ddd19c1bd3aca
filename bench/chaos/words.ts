/** A message's name, written into its text: `m<place>x<number>`. */
export const idOf = (place: number, n: number): string => `m${place}x${n}`;

const ids = /\bm\d+x\d+\b/g;

export const idsIn = (text: string): readonly string[] => [...text.matchAll(ids)].map(([id]) => id);

export const placeAndNumber = (id: string): { readonly place: number; readonly n: number } => {
  const [place = Number.NaN, n = Number.NaN] = id.slice(1).split('x').map(Number);
  return { place, n };
};

export const answerTo = (open: readonly string[]): string => `re ${open.join(' ')} ok`;

export const asideOn = (id: string): string => `look ${id}`;

const wholeAnswer = /^re ((?:m\d+x\d+ )+)ok$/gm;

/** The messages that complete answers in a text cover. */
export const coveredIn = (text: string): readonly string[] => [...text.matchAll(wholeAnswer)].flatMap(([, list = '']) => idsIn(list));

/** What a message of the bot is, by its words. */
export type ShownKind = 'answer' | 'cut' | 'cut empty' | 'aside' | 'preview' | 'set aside' | 'acknowledgement' | 'other';

export interface ShownText {
  readonly kind: ShownKind;
  readonly ids: readonly string[];
  /** Said to be a possible repeat. */
  readonly marked: boolean;
}

const mark = /^♻️ (?:Possibly a repeat:\n)?/u;

const kindOf = (text: string): ShownKind => {
  if (text.endsWith('▉')) return 'preview';
  if (/^re (?:m\d+x\d+ )+ok$/.test(text)) return 'answer';
  if (/^look m\d+x\d+$/.test(text)) return 'aside';
  if (/^(?:re|look) .*— interrupted by your next message$/s.test(text)) return 'cut';
  // A preview of before a restart, whose turn was interrupted before it said anything again.
  if (text === '—') return 'cut empty';
  if (text.startsWith('⚠️ I had to set this message aside')) return 'set aside';
  return /^[⚡⏳]/u.test(text) ? 'acknowledgement' : 'other';
};

/** Reads a text as people see it, or as it stands in a call with its markup escaped. */
export const readShown = (raw: string): ShownText => {
  const text = raw.replaceAll('\\', '');
  const bare = text.replace(mark, '');
  return { kind: kindOf(bare), ids: idsIn(bare), marked: bare !== text };
};

/** Characters as people see them: a letter with its accents, an emoji with all its parts. */
export const graphemes = (text: string): readonly string[] => (plainText.test(text) ? [...text] : Array.from(segmentsOf(text), ({ segment }) => segment));

/** Made when it is needed: it takes 2 MB, and most gateways never come to it. */
let segmenter: Intl.Segmenter | undefined;
const segmentsOf = (text: string): Intl.Segments => (segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })).segment(text);
const plainText = /^[\x20-\x7e]*$/;

/** East Asian wide and full-width blocks that are no emoji, in pairs of first and last. */
const wideBlocks: readonly number[] = [
  0x1100, 0x115f, 0x2329, 0x232a, 0x2630, 0x2637, 0x268a, 0x268f, 0x2e80, 0x2e99, 0x2e9b, 0x2ef3, 0x2f00, 0x2fd5, 0x2ff0, 0x303e, 0x3041, 0x3096, 0x3099, 0x30ff, 0x3105, 0x312f,
  0x3131, 0x318e, 0x3190, 0x31e5, 0x31ef, 0x321e, 0x3220, 0x3247, 0x3250, 0xa48c, 0xa490, 0xa4c6, 0xa960, 0xa97c, 0xac00, 0xd7a3, 0xf900, 0xfaff, 0xfe10, 0xfe19, 0xfe30, 0xfe52,
  0xfe54, 0xfe66, 0xfe68, 0xfe6b, 0xff01, 0xff60, 0xffe0, 0xffe6, 0x16fe0, 0x16fe4, 0x16ff0, 0x16ff6, 0x17000, 0x18cd5, 0x18cff, 0x18d1e, 0x18d80, 0x18df2, 0x1aff0, 0x1aff3,
  0x1aff5, 0x1affb, 0x1affd, 0x1affe, 0x1b000, 0x1b122, 0x1b132, 0x1b132, 0x1b150, 0x1b152, 0x1b155, 0x1b155, 0x1b164, 0x1b167, 0x1b170, 0x1b2fb, 0x1d300, 0x1d356, 0x1d360, 0x1d376,
  0x1f200, 0x1f200, 0x1f202, 0x1f202, 0x1f210, 0x1f219, 0x1f21b, 0x1f22e, 0x1f230, 0x1f231, 0x1f237, 0x1f237, 0x1f23b, 0x1f23b, 0x1f240, 0x1f248, 0x1f260, 0x1f265, 0x20000, 0x2fffd,
  0x30000, 0x3fffd,
];

const isWideBlock = (code: number): boolean => {
  let low = 0;
  let high = wideBlocks.length / 2 - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (code < (wideBlocks[middle * 2] ?? 0)) high = middle - 1;
    else if (code > (wideBlocks[middle * 2 + 1] ?? 0)) low = middle + 1;
    else return true;
  }
  return false;
};

/** Takes no room of its own: marks, joiners, selectors, vowels and endings of Hangul syllables. */
const invisible = /^(?:\p{Mn}|\p{Me}|\p{Cf}|\p{Cc}|[\u1160-\u11ff\ud7b0-\ud7fb])$/u;
const emoji = /^(?:\p{Emoji_Presentation}|\p{RI}\p{RI}|\p{Emoji}\ufe0f|\p{Extended_Pictographic}.*(?:\u200d|\ufe0f)|\p{Emoji_Modifier_Base}\p{Emoji_Modifier})/u;

const codePointWidth = (char: string): number => {
  if (invisible.test(char)) return 0;
  return isWideBlock(char.codePointAt(0) ?? 0) ? 2 : 1;
};

const graphemeWidth = (grapheme: string): number => {
  if (grapheme.length === 1 && grapheme >= ' ' && grapheme <= '~') return 1;
  if (emoji.test(grapheme)) return 2;
  let width = 0;
  for (const char of grapheme) width += codePointWidth(char);
  return Math.min(width, 2);
};

/** Columns that a text takes in a terminal. Control characters count as nothing; they must not get there anyway. */
export const textWidth = (text: string): number => {
  if (plainText.test(text)) return text.length;
  let width = 0;
  for (const grapheme of graphemes(text)) width += graphemeWidth(grapheme);
  return width;
};

/** The longest start of a text that takes up to so many columns, with an ellipsis for what is missing. */
export const cutToWidth = (text: string, columns: number): string => {
  if (textWidth(text) <= columns) return text;
  let cut = '';
  let width = 0;
  for (const grapheme of graphemes(text)) {
    width += graphemeWidth(grapheme);
    if (width > columns - 1) break;
    cut += grapheme;
  }
  return columns < 1 ? '' : `${cut}…`;
};

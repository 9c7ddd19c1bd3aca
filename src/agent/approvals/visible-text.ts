import { createHash } from 'node:crypto';

/** Letters that show as nothing, or as a blank. */
const fillers = String.raw`\u{34f}\u{115f}\u{1160}\u{17b4}\u{17b5}\u{180b}-\u{180f}\u{2800}\u{3164}\u{fe00}-\u{fe0f}\u{ffa0}\u{e0100}-\u{e01ef}`;
/** Blanks that no shell takes for one. */
const blanks = String.raw`\u{a0}\u{1680}\u{2000}-\u{200a}\u{202f}\u{205f}\u{3000}`;
/** What a reader does not see, or sees as something else: those, controls but for newline and tab, marks that turn or join text, and what has no meaning at all. */
const hidden = new RegExp(String.raw`[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}${fillers}${blanks}]--[\n\t]]`, 'gv');
/** Some of them are ordinary parts of emoji. */
const emoji = /\p{RGI_Emoji}/gv;

export const hasHiddenCharacters = (text: string): boolean => !text.isWellFormed() || text.replace(emoji, '').search(hidden) !== -1;

const named = (char: string): string => `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** The text with everything invisible named, so that what is read is what is there. */
export const visibleText = (text: string): string => text.toWellFormed().replace(hidden, named);

/** The whole text in short: two texts with the same one are the same text. */
export const fingerprint = (...parts: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest('hex').slice(0, 32);
};

const shownHead = 900;
const shownTail = 500;

/** What a person is shown of a long text: its beginning and its end, and how much there is of it. */
export const shownText = (text: string): string => {
  const visible = visibleText(text);
  if (visible.length <= shownHead + shownTail + 100) return visible;
  const left = visible.length - shownHead - shownTail;
  return `${visible.slice(0, shownHead).toWellFormed()}\n⟨… ${left} of ${visible.length} characters not shown …⟩\n${visible.slice(-shownTail).toWellFormed()}`;
};

/** The text in a fence that nothing inside it can close. */
export const fenced = (text: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
};

/** Longest tool result that goes into a transcript. */
export const maxResultChars = 100_000;

/** Keeps the beginning and the end of a long text and says how much is missing between them. Never longer than `maxChars`. */
export const boundResult = (text: string, maxChars = maxResultChars): string => {
  if (text.length <= maxChars) return text.toWellFormed();
  const roomForNote = 80;
  const room = maxChars - roomForNote;
  const head = text.slice(0, Math.floor(room * 0.7)).toWellFormed();
  const tail = text.slice(text.length - Math.floor(room * 0.3)).toWellFormed();
  return `${head}\n\n[… ${text.length - head.length - tail.length} characters left out …]\n\n${tail}`;
};

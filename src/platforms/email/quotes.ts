/** A line that announces what was written before, in the words of common clients. */
const announcements: readonly RegExp[] = [
  /^\s*(?:on|am|le|el|il|op|den|em)\b.{0,200}\b(?:wrote|writes|schrieb|a écrit|escribió|ha scritto|schreef|skrev|escreveu)(?:\s.{0,80})?\s*:\s*$/i,
  /^\s*.{0,200}(?:wrote|写道|が書きました)\s*[:：]\s*$/i,
  /^\s*-{2,}\s*(?:original message|ursprüngliche nachricht|message d'origine|mensaje original|messaggio originale|oorspronkelijk bericht)\s*-{2,}\s*$/i,
  /^\s*_{20,}\s*$/,
];

/** A header of an earlier mail that Outlook puts above it. */
const headerLine = /^\s*\*?(?:from|von|de|da|van|sent|gesendet|envoyé|enviado|to|an|à|para|subject|betreff|objet|asunto|date|datum|cc)\s?:\*?\s*\S/i;
const headerStart = /^\s*\*?(?:from|von|de|da|van)\s?:\*?\s*\S/i;

const quoted = /^\s?>/;
const isBlank = (line: string | undefined): boolean => line === undefined || line.trim() === '';

const farewells = /^\s*(?:sent from my .{1,40}|sent from .{1,40} for (?:ios|android).{0,20}|get outlook for .{1,40}|von meinem .{1,40} gesendet|envoyé de(?:puis)? mon .{1,40}|enviado desde mi .{1,40})\s*$/i;

/** Long lines of an announcement are broken in two by many clients. */
const announcedBy = (lines: readonly string[], at: number): number | undefined => {
  const one = lines[at] ?? '';
  if (isBlank(one) || quoted.test(one)) return undefined;
  if (announcements.some((pattern) => pattern.test(one))) return 1;
  const two = `${one} ${(lines[at + 1] ?? '').trim()}`;
  return announcements.slice(0, 2).some((pattern) => pattern.test(two) && /^\s*(?:on|am|le|el|il|op|den|em)\b/i.test(two)) ? 2 : undefined;
};

const isHeaderBlock = (lines: readonly string[], at: number): boolean => headerStart.test(lines[at] ?? '') && lines.slice(at, at + 6).filter((line) => headerLine.test(line)).length >= 3;

/** From here on everything is what was written before, unless somebody has answered between the quoted lines. */
const historyStart = (lines: readonly string[]): number | undefined => {
  for (const at of lines.keys()) {
    if (isHeaderBlock(lines, at)) return at;
    const length = announcedBy(lines, at);
    if (length === undefined) continue;
    const rest = lines.slice(at + length);
    const first = rest.find((line) => !isBlank(line)) ?? '';
    if (!quoted.test(first)) return at;
    const answered = rest.some((line, i) => !isBlank(line) && !quoted.test(line) && rest.slice(0, i).some((before) => quoted.test(before)));
    return answered ? undefined : at;
  }
  return undefined;
};

const withoutTail = (lines: readonly string[], isTail: (line: string) => boolean): readonly string[] => {
  let end = lines.length;
  while (end > 0 && (isBlank(lines[end - 1]) || isTail(lines[end - 1] ?? ''))) end -= 1;
  return lines.slice(0, end);
};

/** `-- ` on a line of its own begins a signature (RFC 3676); many clients lose the space. */
const withoutSignature = (lines: readonly string[]): readonly string[] => {
  const at = lines.findLastIndex((line) => /^--\s?$/.test(line));
  return at === -1 || lines.length - at > 15 ? lines : lines.slice(0, at);
};

/** What somebody has written now, without the mails below it and without their signature. A mail of nothing else stays whole. */
export const ownWords = (text: string): string => {
  const whole = text.replace(/\r\n?/g, '\n').replaceAll('\u00A0', ' ');
  const lines = whole.split('\n');
  const kept = lines.slice(0, historyStart(lines));
  const words = withoutTail(withoutSignature(withoutTail(kept, (line) => quoted.test(line))), (line) => farewells.test(line));
  const own = words.join('\n').trim();
  return own === '' ? whole.trim() : own;
};

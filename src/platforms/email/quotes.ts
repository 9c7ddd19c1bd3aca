/** A line that announces what was written before, in the words of common clients. */
const announcements: readonly RegExp[] = [
  /^\s*(?:on|am|le|el|il|op|den|em)\b.{0,200}\b(?:wrote|writes|schrieb|a écrit|escribió|ha scritto|schreef|skrev|escreveu)(?:\s.{0,80})?\s*:\s*$/i,
  /^\s*.{0,200}(?:wrote|写道|が書きました)\s*[:：]\s*$/i,
];

const separator = /^\s*-{2,}\s*(?:original message|ursprüngliche nachricht|message d'origine|mensaje original|messaggio originale|oorspronkelijk bericht)\s*-{2,}\s*$/i;

/** Clients that do not mark the lines of the earlier mail say at least when it was written, or by whom; people who tell a story say neither. */
const isPrecise = (announcement: string): boolean => /[@<]|\b\d{4}\b/.test(announcement);

/** A header of an earlier mail that Outlook puts above it. */
const headerLine = /^\s*\*?(?:from|von|de|da|van|sent|gesendet|envoyé|enviado|to|an|à|para|subject|betreff|objet|asunto|date|datum|cc)\s?:\*?\s*\S/i;
const headerStart = /^\s*\*?(?:from|von|de|da|van)\s?:\*?\s*\S/i;
/** Without a subject it may be anything that somebody has written, such as a question about trains. */
const subjectLine = /^\s*\*?(?:subject|betreff|objet|asunto|oggetto|onderwerp|assunto)\s?:/i;

const quoted = /^\s?>/;
const isBlank = (line: string | undefined): boolean => line === undefined || line.trim() === '';

const farewells = /^\s*(?:sent from my .{1,40}|sent from .{1,40} for (?:ios|android).{0,20}|get outlook for .{1,40}|von meinem .{1,40} gesendet|envoyé de(?:puis)? mon .{1,40}|enviado desde mi .{1,40})\s*$/i;

/** Long lines of an announcement are broken in two by many clients. */
const announcementAt = (lines: readonly string[], at: number): { readonly text: string; readonly length: number } | undefined => {
  const one = lines[at] ?? '';
  if (isBlank(one) || quoted.test(one)) return undefined;
  if (announcements.some((pattern) => pattern.test(one))) return { text: one, length: 1 };
  const two = `${one} ${(lines[at + 1] ?? '').trim()}`;
  return announcements[0]?.test(two) === true ? { text: two, length: 2 } : undefined;
};

const isHeaderBlock = (lines: readonly string[], at: number): boolean => {
  if (!headerStart.test(lines[at] ?? '')) return false;
  const block = lines.slice(at, at + 6);
  return block.filter((line) => headerLine.test(line)).length >= 3 && block.some((line) => subjectLine.test(line));
};

const rule = /^\s*_{20,}\s*$/;

/** What Outlook and its relatives put above the earlier mail, whose lines they do not mark. */
const startsHistory = (lines: readonly string[], at: number): boolean => separator.test(lines[at] ?? '') || isHeaderBlock(lines, at) || (rule.test(lines[at] ?? '') && headerStart.test(lines[at + 1] ?? ''));

/** From here on everything is what was written before, unless somebody has answered between the quoted lines. */
const historyStart = (lines: readonly string[]): number | undefined => {
  for (const at of lines.keys()) {
    if (startsHistory(lines, at)) return at;
    const announcement = announcementAt(lines, at);
    if (announcement === undefined) continue;
    const rest = lines.slice(at + announcement.length);
    const first = rest.find((line) => !isBlank(line)) ?? '';
    if (!quoted.test(first)) {
      if (isPrecise(announcement.text)) return at;
      continue;
    }
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

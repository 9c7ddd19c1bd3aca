/** An entity as the Bot API reports it. Offsets count UTF-16 units. */
export interface MarkupEntity {
  readonly type: EntityType;
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly language?: string;
  readonly custom_emoji_id?: string;
}

type EntityType =
  | 'bold'
  | 'italic'
  | 'underline'
  | 'strikethrough'
  | 'spoiler'
  | 'code'
  | 'pre'
  | 'text_link'
  | 'custom_emoji'
  | 'date_time'
  | 'blockquote'
  | 'expandable_blockquote';

export type Markup = { readonly ok: true; readonly text: string; readonly entities: readonly MarkupEntity[] } | { readonly ok: false; readonly error: string };

/** What may be open; the names are those of Telegram's error messages. */
type Name = 'Bold' | 'Italic' | 'Underline' | 'Strikethrough' | 'Spoiler' | 'Code' | 'Pre' | 'PreCode' | 'TextUrl' | 'CustomEmoji' | 'BlockQuote';

interface Open {
  readonly name: Name;
  readonly at: number;
  readonly offset: number;
  readonly language?: string;
}

interface Scan {
  readonly source: string;
  at: number;
  text: string;
  readonly open: Open[];
  readonly entities: MarkupEntity[];
  /** Nothing but markup stands between here and the beginning of the line. */
  lineStart: boolean;
}

class Refused extends Error {}

const simpleType = { Bold: 'bold', Italic: 'italic', Underline: 'underline', Strikethrough: 'strikethrough', Spoiler: 'spoiler', Code: 'code', Pre: 'pre', PreCode: 'pre' } as const;

const reserved: ReadonlySet<string> = new Set('_*[]()~`>#+-=|{}.!\n');

const byteOffset = (source: string, at: number): number => Buffer.byteLength(source.slice(0, at));

const mustBeEscaped = (char: string): Refused => new Refused(`Character '${char}' is reserved and must be escaped with the preceding '\\'`);

const neverEnds = (source: string, { name, at }: Open): Refused => new Refused(`Can't find end of ${name} entity at byte offset ${byteOffset(source, at)}`);

const put = (scan: Scan, char: string): void => {
  scan.text += char;
  if (char !== '\r') scan.lineStart = char === '\n';
};

const isEscape = (source: string, at: number): boolean => {
  const next = source.charCodeAt(at + 1);
  return source[at] === '\\' && next > 0 && next <= 126;
};

const close = (scan: Scan, entity: Omit<MarkupEntity, 'offset' | 'length'> | undefined): void => {
  const opened = scan.open.pop();
  const length = scan.text.length - (opened?.offset ?? 0);
  if (opened !== undefined && entity !== undefined && length > 0) scan.entities.push({ ...entity, offset: opened.offset, length });
};

const begin = (scan: Scan, name: Name, skip: number, language?: string): void => {
  scan.open.push({ name, at: scan.at, offset: scan.text.length, ...(language !== undefined && { language }) });
  scan.at += skip;
};

/** How long the token here is if it ends what is open; 0 if it does not. */
const endingToken = ({ source, at, open }: Scan): number => {
  const follows = (token: string): number => (source.startsWith(token, at) ? token.length : 0);
  const top = open.at(-1)?.name;
  switch (top) {
    case 'Bold':
      return follows('*');
    case 'Italic':
      return source[at + 1] === '_' ? 0 : follows('_');
    case 'Underline':
      return follows('__');
    case 'Strikethrough':
      return follows('~');
    case 'Spoiler':
      return follows('||');
    case 'Code':
      return follows('`');
    case 'Pre':
    case 'PreCode':
      return follows('```');
    case 'TextUrl':
    case 'CustomEmoji':
      return follows(']');
    case 'BlockQuote':
    case undefined:
      return 0;
    default:
      return top satisfies never;
  }
};

/** Reads `(...)` behind a `]`, with the scan standing on the `]`; leaves it behind the `)`. */
const readTarget = (scan: Scan): string | undefined => {
  const { source } = scan;
  if (source[scan.at + 1] !== '(') {
    scan.at += 1;
    return undefined;
  }
  const from = scan.at + 2;
  let url = '';
  for (let at = from; at < source.length; at += 1) {
    if (source[at] === ')') {
      scan.at = at + 1;
      return url;
    }
    if (isEscape(source, at)) at += 1;
    url += source[at];
  }
  throw new Refused(`Can't find end of a URL at byte offset ${byteOffset(source, from)}`);
};

const looksLikeLink = (url: string): boolean => /^(?:(?:https?|ftp|tonsite):\/\/|tg:|ton:|mailto:|tel:)?[^\s/]+/i.test(url) && !/\s/.test(url) && (/^(?:tg|ton|mailto|tel):/i.test(url) || /[^\s./]+\.[^\s.]/.test(url));

const endLink = (scan: Scan): void => {
  const url = readTarget(scan) ?? scan.text.slice(scan.open.at(-1)?.offset);
  close(scan, looksLikeLink(url) ? { type: 'text_link', url } : undefined);
};

const endCustomEmoji = (scan: Scan): void => {
  const url = readTarget(scan);
  if (url === undefined) throw new Refused('The entity must contain a tg://emoji or tg://time URL');
  const id = /^tg:(?:\/\/)?emoji\/?\?(?:.*&)?id=(\d+)/i.exec(url)?.[1];
  if (id !== undefined) close(scan, { type: 'custom_emoji', custom_emoji_id: id });
  else if (/^tg:(?:\/\/)?time\/?\?(?:.*&)?unix=\d+/i.test(url)) close(scan, { type: 'date_time' });
  else throw new Refused('Invalid tg://emoji or tg://time URL specified');
};

const end = (scan: Scan, top: Open, length: number): void => {
  switch (top.name) {
    case 'TextUrl':
      endLink(scan);
      return;
    case 'CustomEmoji':
      endCustomEmoji(scan);
      return;
    case 'BlockQuote':
      return;
    default:
      scan.at += length;
      close(scan, { type: simpleType[top.name], ...(top.language !== undefined && { language: top.language }) });
  }
};

const beginPre = (scan: Scan): void => {
  const { source } = scan;
  const language = /^[^\s`]+(?=\s)/.exec(source.slice(scan.at + 3))?.[0];
  begin(scan, language === undefined ? 'Pre' : 'PreCode', 3 + (language?.length ?? 0), language);
  scan.at += /^(?:\r\n|\n\r|\n|\r)?/.exec(source.slice(scan.at, scan.at + 2))?.[0].length ?? 0;
};

const isQuoted = (scan: Scan): boolean => scan.open.some(({ name }) => name === 'BlockQuote');

const endQuote = (scan: Scan, type: 'blockquote' | 'expandable_blockquote'): void => {
  const top = scan.open.at(-1);
  if (top !== undefined && top.name !== 'BlockQuote') throw neverEnds(scan.source, top);
  close(scan, { type });
};

const newLine = (scan: Scan): void => {
  put(scan, '\n');
  scan.at += 1;
  if (isQuoted(scan) && scan.source[scan.at] !== '>') endQuote(scan, 'blockquote');
};

/** The line break behind a `||` that folds the quote it stands in, or undefined when it begins a spoiler. */
const foldingBreak = (scan: Scan): string | undefined => (isQuoted(scan) ? /^(?:$|\r?\n(?!>))/.exec(scan.source.slice(scan.at + 2, scan.at + 5))?.[0] : undefined);

const foldQuote = (scan: Scan, lineBreak: string): void => {
  for (const char of lineBreak) put(scan, char);
  scan.at += 2 + lineBreak.length;
  endQuote(scan, 'expandable_blockquote');
};

const beginSpoiler = (scan: Scan): void => {
  const lineBreak = foldingBreak(scan);
  if (lineBreak === undefined) begin(scan, 'Spoiler', 2);
  else foldQuote(scan, lineBreak);
};

const quoteMark = (scan: Scan): void => {
  if (!scan.lineStart) throw mustBeEscaped('>');
  if (isQuoted(scan)) scan.at += 1;
  else begin(scan, 'BlockQuote', 1);
};

const beginSomething = (scan: Scan, char: string): void => {
  const { source, at } = scan;
  const next = source[at + 1];
  if (char === '*') begin(scan, 'Bold', 1);
  else if (char === '_') begin(scan, next === '_' ? 'Underline' : 'Italic', next === '_' ? 2 : 1);
  else if (char === '~') begin(scan, 'Strikethrough', 1);
  else if (char === '|' && next === '|') beginSpoiler(scan);
  else if (char === '[') begin(scan, 'TextUrl', 1);
  else if (char === '!' && next === '[') begin(scan, 'CustomEmoji', 2);
  else if (source.startsWith('```', at)) beginPre(scan);
  else if (char === '`') begin(scan, 'Code', 1);
  else if (char === '>') quoteMark(scan);
  else throw mustBeEscaped(char);
};

const step = (scan: Scan): void => {
  const { source, at, open } = scan;
  const char = source.charAt(at);
  const top = open.at(-1);
  if (isEscape(source, at)) {
    put(scan, source.charAt(at + 1));
    scan.at += 2;
    return;
  }
  const verbatim = top !== undefined && (top.name === 'Code' || top.name === 'Pre' || top.name === 'PreCode');
  if (verbatim ? char !== '`' : !reserved.has(char)) {
    put(scan, char);
    if (verbatim && char !== '\r') scan.lineStart = false;
    scan.at += 1;
    return;
  }
  const ending = endingToken(scan);
  if (top !== undefined && ending > 0) end(scan, top, ending);
  else if (char === '\n') newLine(scan);
  else beginSomething(scan, char);
};

const rank = ({ type }: MarkupEntity): number => (type.endsWith('blockquote') ? 0 : 1);

/** Parses MarkdownV2 as Telegram does, with its error messages. Compared with TDLib, see markdown-v2.test.ts. */
export const parseMarkdownV2 = (source: string): Markup => {
  const scan: Scan = { source, at: 0, text: '', open: [], entities: [], lineStart: true };
  try {
    while (scan.at < source.length) step(scan);
    if (scan.open.at(-1)?.name === 'BlockQuote') close(scan, { type: 'blockquote' });
    const unclosed = scan.open.at(-1);
    if (unclosed !== undefined) throw neverEnds(source, unclosed);
  } catch (error) {
    if (error instanceof Refused) return { ok: false, error: error.message };
    throw error;
  }
  const entities = scan.entities.toSorted((a, b) => a.offset - b.offset || b.length - a.length || rank(a) - rank(b));
  return { ok: true, text: scan.text, entities };
};

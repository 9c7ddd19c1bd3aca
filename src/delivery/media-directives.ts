import { closesFence, openFence } from '../lib/markdown/fence.ts';
import type { Fence } from '../lib/markdown/fence.ts';
import { imageExtensions, knownExtensions, visualExtensions } from './file-kinds.ts';

/** A file that an answer wants to have sent. Nobody has looked whether it may be, or whether it exists. */
export interface MediaFile {
  readonly path: string;
  /** Sound is sent as if it had been spoken. */
  readonly asVoice: boolean;
  /** Pictures are sent as files. */
  readonly asDocument: boolean;
}

export interface SplitText {
  /** What is left to be read. */
  readonly text: string;
  readonly files: readonly MediaFile[];
  /** Pictures that are somewhere on the web. */
  readonly images: readonly { readonly url: string; readonly alt: string }[];
  /** Pictures and films that the text names by their path, outside of code; they stay in the text. */
  readonly mentioned: readonly string[];
}

const voiceDirective = '[[audio_as_voice]]';
const documentDirective = '[[as_document]]';
const directives = [voiceDirective, documentDirective] as const;
const tag = 'MEDIA:';
const longestPath = 4096;

const either = (names: readonly string[]): string => names.map((name) => RegExp.escape(name)).join('|');

/** Everything that is not plain text: code, which stays as it is, and what stands for a file. */
const special = new RegExp(
  [
    '(?<code>`+[^`\\n]*`+)',
    `(?<directive>${either(directives)})`,
    '(?<media>(?<![A-Za-z0-9_])MEDIA:)',
    '!\\[(?<alt>[^\\]\\n]{0,500})\\]\\((?<url>https?://[^\\s)]{1,2000})(?:\\s+"[^"\\n]{0,500}")?\\)',
    '<img\\s[^>\\n]{0,1000}?\\bsrc=["\'](?<src>https?://[^"\'\\s>]{1,2000})["\'][^>\\n]{0,1000}>',
    `(?<path>(?<![\\w/:.~"'\`(\\\\])(?:~/|/)[^\\s"'\`<>|()[\\]]{1,1000}?\\.(?:${either(visualExtensions)})(?![\\w/]))`,
  ].join('|'),
  'gi',
);

const knownEnd = new RegExp(`\\.(?:${either(knownExtensions)})(?=[\\s\`"',;:)\\]}.!?]|$)`, 'i');
const imageUrl = new RegExp(`\\.(?:${either(imageExtensions)})$`, 'i');
const quoted = /^[ \t]*(?:`([^`\n]+)`|"([^"\n]+)"|'([^'\n]+)')/;
const pathStart = /^[ \t]*(?=~\/|\/|[A-Za-z]:[\\/])/;
const isPath = (text: string): boolean => /^(?:~\/|\/|[A-Za-z]:[\\/])./.test(text);
const trailing = /[.,;:!?)\]}'"`]+$/;

interface ReadPath {
  readonly path: string;
  /** How much of the text it takes. */
  readonly length: number;
  /** Where it ends does not depend on what follows. */
  readonly isCertain: boolean;
}

/** The path that begins here, on this line. One with spaces has to end in a known way. */
const readPath = (rest: string): ReadPath | undefined => {
  const line = rest.slice(0, longestPath).split('\n', 1)[0] ?? '';
  const inQuotes = quoted.exec(line);
  const named = inQuotes?.[1] ?? inQuotes?.[2] ?? inQuotes?.[3];
  if (inQuotes !== null && named !== undefined) return isPath(named.trim()) ? { path: named.trim(), length: inQuotes[0].length, isCertain: true } : undefined;
  const lead = pathStart.exec(line)?.[0].length;
  if (lead === undefined) return undefined;
  const next = line.indexOf(tag, lead);
  const body = next === -1 ? line.slice(lead) : line.slice(lead, next);
  const end = knownEnd.exec(body);
  const path = end === null ? (/^\S+/.exec(body)?.[0].replace(trailing, '') ?? '') : body.slice(0, end.index + end[0].length);
  return isPath(path) ? { path, length: lead + path.length, isCertain: end !== null && path.length < body.length } : undefined;
};

interface Piece {
  readonly lines: string[];
  readonly isCode: boolean;
}

/** Fenced blocks are code from their first to their last line; a block that is still open goes on to the end. */
const piecesOf = (text: string): readonly Piece[] => {
  const pieces: Piece[] = [];
  let open: Fence | undefined;
  for (const line of text.split('\n')) {
    const opened = open === undefined ? openFence(line) : undefined;
    const isCode = open !== undefined || opened !== undefined;
    const last = pieces.at(-1);
    if (last?.isCode === isCode && opened === undefined) last.lines.push(line);
    else pieces.push({ lines: [line], isCode });
    if (opened !== undefined) open = opened;
    else if (open !== undefined && closesFence(open, line)) open = undefined;
  }
  return pieces;
};

/** What is taken out leaves a mark that no text has, so that the gap can be closed afterwards. */
const gap = '\u0000';

const closeGaps = (text: string): string =>
  text
    .split('\n')
    .flatMap((line) => {
      if (!line.includes(gap)) return [line];
      const closed = line
        .replaceAll(/[ \t]*\0(?:[ \t]*\0)*[ \t]*/g, gap)
        .replaceAll(/^\0|\0$/g, '')
        .replaceAll(gap, ' ');
      return closed.trim() === '' ? [] : [closed];
    })
    .join('\n');

interface Found {
  readonly files: string[];
  readonly images: { readonly url: string; readonly alt: string }[];
  readonly mentioned: string[];
  readonly directives: Set<string>;
}

/** A tag in backticks of its own is a tag; any other code is code. */
const inCode = (code: string, found: Found): string => {
  const inner = code.replaceAll(/^`+|`+$/g, '').trim();
  const read = inner.startsWith(tag) ? readPath(inner.slice(tag.length)) : undefined;
  if (read === undefined || tag.length + read.length !== inner.length) return code;
  found.files.push(read.path);
  return gap;
};

const imageAt = (url: string, alt: string, found: Found): boolean => {
  if (!imageUrl.test(URL.parse(url)?.pathname ?? '')) return false;
  found.images.push({ url, alt: alt.trim() });
  return true;
};

const splitPiece = (text: string, found: Found): string => {
  let out = '';
  let at = 0;
  for (special.lastIndex = 0; ; ) {
    const match = special.exec(text);
    if (match === null) return out + text.slice(at);
    const { code, directive, media, url, alt = '', src, path } = match.groups ?? {};
    let kept = match[0];
    let end = match.index + kept.length;
    if (code !== undefined) kept = inCode(code, found);
    else if (directive !== undefined && directives.some((each) => each === directive)) {
      found.directives.add(directive);
      kept = gap;
    } else if (media === tag) {
      const read = readPath(text.slice(end));
      if (read !== undefined) {
        found.files.push(read.path);
        end += read.length;
        kept = gap;
      }
    } else if (imageAt(url ?? src ?? '', alt, found)) kept = gap;
    else if (path !== undefined) found.mentioned.push(path);
    out += text.slice(at, match.index) + kept;
    at = end;
    special.lastIndex = end;
  }
};

/** One pass; what it takes out may have stood between the parts of something else. */
const takeOut = (text: string, found: Found): string => {
  const split = piecesOf(text)
    .map(({ lines, isCode }) => (isCode ? lines.join('\n') : splitPiece(lines.join('\n'), found)))
    .join('\n');
  return split.includes(gap) ? closeGaps(split).replaceAll(/\n{3,}/g, '\n\n').trim() : text;
};

/**
 * Takes out of an answer what is not to be read but to be sent: `MEDIA:<path>` tags, `[[audio_as_voice]]` and `[[as_document]]`, which hold for the whole
 * answer, and pictures on the web. Code blocks stay as they are; a text without any of it comes back unchanged.
 */
export const splitMedia = (given: string): SplitText => {
  const found: Found = { files: [], images: [], mentioned: [], directives: new Set() };
  let text = given.replaceAll(gap, '');
  for (let before: string | undefined; before !== text; ) {
    before = text;
    text = takeOut(text, found);
  }
  const wish = { asVoice: found.directives.has(voiceDirective), asDocument: found.directives.has(documentDirective) };
  const files = [...new Set(found.files)].map((path) => ({ path, ...wish }));
  return { text, files, images: found.images, mentioned: [...new Set(found.mentioned)].filter((path) => !found.files.includes(path)) };
};

/** How a directive or a picture may begin at the end of a text that still grows, and the first letters of a tag. */
const unfinished = [
  /[`"']?(?<![A-Za-z0-9_])M(?:E(?:D(?:I(?:A)?)?)?)?$/,
  /\[(?:\[[a-z_]*\]?)?$/,
  /!(?:\[[^\]\n]{0,500}(?:\](?:\([^)\n]{0,2000})?)?)?$/,
  /<(?:i(?:m(?:g[^>\n]{0,2000})?)?)?$/i,
] as const;

const mayBecome = (tail: string): boolean => !tail.startsWith('[') || directives.some((directive) => directive.startsWith(tail));

/** Where a tag begins whose path may go on. */
const openTag = (line: string): number => {
  const at = line.lastIndexOf(tag);
  if (at === -1 || readPath(line.slice(at + tag.length))?.isCertain === true) return line.length;
  return /[`"']/.test(line[at - 1] ?? '') ? at - 1 : at;
};

/** A text that still grows, without tags and without what may become one. */
export const withoutMediaTags = (text: string): string => {
  const last = piecesOf(text).at(-1);
  const line = last?.isCode === false ? (last.lines.at(-1) ?? '') : '';
  const cuts = unfinished.map((pattern) => pattern.exec(line)).filter((match) => match !== null && mayBecome(match[0]));
  const from = Math.min(openTag(line), ...cuts.map((match) => match?.index ?? line.length));
  return splitMedia(text.slice(0, text.length - line.length + from)).text;
};

/** A piece of an XML document. Names are without their prefixes; what stands alone is opened and closed. */
export type XmlPiece =
  | { readonly type: 'open'; readonly name: string; attribute(name: string): string | undefined }
  | { readonly type: 'close'; readonly name: string }
  | { readonly type: 'text'; readonly text: string };

const longestTag = 10_000;

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const ofNumber = (code: number): string => (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code).toWellFormed() : '\uFFFD');

const decoded = (text: string): string =>
  text.includes('&')
    ? text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,4}));/gi, (whole, hex?: string, decimal?: string, word?: string) => {
        if (hex !== undefined) return ofNumber(Number.parseInt(hex, 16));
        return decimal === undefined ? (named[word ?? ''] ?? whole) : ofNumber(Number(decimal));
      })
    : text;

const local = (name: string): string => name.slice(name.indexOf(':') + 1);

const attributeIn =
  (tag: string) =>
  (wanted: string): string | undefined => {
    for (const [, name = '', double, single] of tag.slice(0, longestTag).matchAll(/([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) if (local(name) === wanted) return decoded(double ?? single ?? '');
    return undefined;
  };

/** Where a tag ends; a bracket inside a value does not end it. */
const endOfTag = (text: string, from: number): number => {
  let quote = '';
  for (let at = from; at < text.length; at += 1) {
    const letter = text[at] ?? '';
    if (quote !== '') quote = letter === quote ? '' : quote;
    else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === '>') return at;
  }
  return -1;
};

const sections = [{ begin: '<!--', end: '-->', isText: false }, { begin: '<![CDATA[', end: ']]>', isText: true }, { begin: '<?', end: '?>', isText: false }] as const;

function* readTag(tag: string): Generator<XmlPiece, void, undefined> {
  const [name = ''] = /^\/?[^\s/]*/.exec(tag) ?? [];
  if (name.startsWith('/')) yield { type: 'close', name: local(name.slice(1)) };
  else if (!name.startsWith('!')) {
    yield { type: 'open', name: local(name), attribute: attributeIn(tag.slice(name.length)) };
    if (tag.endsWith('/')) yield { type: 'close', name: local(name) };
  }
}

/** The pieces of a document in their order, each looked at once; it ends where the document stops being one. */
export function* readXml(text: string): Generator<XmlPiece, void, undefined> {
  let at = 0;
  while (at < text.length) {
    const tag = text.indexOf('<', at);
    const before = text.slice(at, tag === -1 ? undefined : tag);
    if (before !== '') yield { type: 'text', text: decoded(before) };
    if (tag === -1) return;
    const section = sections.find(({ begin }) => text.startsWith(begin, tag));
    const end = section === undefined ? endOfTag(text, tag + 1) : text.indexOf(section.end, tag + section.begin.length);
    if (end === -1) return;
    if (section === undefined) yield* readTag(text.slice(tag + 1, end));
    else if (section.isText) yield { type: 'text', text: text.slice(tag + section.begin.length, end) };
    at = end + (section?.end.length ?? 1);
  }
}

/** What people see of a message's text: https://docs.slack.dev/messaging/formatting-message-text. */

const unescape = (text: string): string => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

/** Signs without width are there for machines only. */
const visible = (text: string): string => unescape(text).replaceAll('\u2060', '');

/** Slack takes a pair of signs for markup only at the edges of words, and never over several lines. */
const pairs: readonly RegExp[] = [
  /(?<![\p{L}\p{N}*])\*(?=[^\s*\u2060])([^*\n]*?[^\s*])\*(?![\p{L}\p{N}*])/gu,
  /(?<![\p{L}\p{N}_])_(?=[^\s_\u2060])([^_\n]*?[^\s_])_(?![\p{L}\p{N}_])/gu,
  /(?<![\p{L}\p{N}~])~(?=[^\s~\u2060])([^~\n]*?[^\s~])~(?![\p{L}\p{N}~])/gu,
];

const unstyle = (line: string): string => pairs.reduce((shown, pair) => shown.replaceAll(pair, '$1'), line);

const control = /<([^<>\n]+)>/g;

const showControl = (inner: string, names: ReadonlyMap<string, string>): string => {
  const [subject = '', label] = inner.split('|', 2);
  if (subject.startsWith('@')) return `@${label ?? names.get(subject.slice(1)) ?? subject.slice(1)}`;
  if (subject.startsWith('#')) return `#${label ?? subject.slice(1)}`;
  if (subject.startsWith('!')) return label ?? `@${subject.slice(1)}`;
  return label ?? subject;
};

const showProse = (text: string, names: ReadonlyMap<string, string>): string =>
  text
    .split('\n')
    .map((line) => visible(unstyle(line.replace(/^&gt; ?|^> ?/, '')).replaceAll(control, (_whole, inner: string) => showControl(inner, names))))
    .join('\n');

/** The words that are shown, without any markup. */
export const showMrkdwn = (text: string, names: ReadonlyMap<string, string> = new Map()): string =>
  text
    .split(/(```[\s\S]*?```|(?<![\p{L}\p{N}`])`[^`\n]+`(?![\p{L}\p{N}`]))/u)
    .map((part, index) => {
      if (index % 2 === 0) return showProse(part, names);
      return visible(part.startsWith('```') ? part.slice(3, -3).replace(/^\n|\n$/g, '') : part.slice(1, -1));
    })
    .join('');

/** Of a text in which markup is switched off; links and the like are still read. */
export const showPlain = (text: string): string => visible(text.replaceAll(control, (_whole, inner: string) => showControl(inner, new Map())));

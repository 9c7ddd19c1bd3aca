/** What Slack writes inside angle brackets: a person, a channel, a group or everybody, a date, a link. */
const control = /<([^<>\n]+)>/g;

const unescape = (words: string): string => words.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

const readControl = (inner: string): string => {
  const bar = inner.indexOf('|');
  const [subject, label] = bar === -1 ? [inner, ''] : [inner.slice(0, bar), unescape(inner.slice(bar + 1))];
  switch (subject[0]) {
    case '@':
      // Kept as it is: this is also how people are called in an answer.
      return `<${subject}>`;
    case '#':
      return label === '' ? `<${subject}>` : `#${label}`;
    case '!':
      return label === '' ? `@${subject.slice(1).split('^')[0] ?? ''}` : label;
    default: {
      const address = unescape(subject);
      const shown = address.replace(/^(?:mailto|tel):/, '');
      const isAddress = label === '' || label === address || label === shown || address.replace(/^https?:\/\//, '') === label;
      return isAddress ? shown : `[${label}](${address})`;
    }
  }
};

/** Words as people see them in Slack, with links as in Markdown. People stay `<@U…>`. */
export const readText = (mrkdwn: string): string => {
  let read = '';
  let at = 0;
  for (const { 0: found, 1: inner = '', index } of mrkdwn.matchAll(control)) {
    read += unescape(mrkdwn.slice(at, index)) + readControl(inner);
    at = index + found.length;
  }
  return read + unescape(mrkdwn.slice(at));
};

export interface Called {
  /** Without our own mention. */
  readonly text: string;
  readonly mentioned: boolean;
  /** It begins with the name of somebody else. */
  readonly forOthers: boolean;
}

/** Takes the mention of `userId` off. */
export const takeMention = (words: string, userId: string): Called => {
  const forOthers = /^\s*<@(?!!)/.test(words) && !words.trimStart().startsWith(`<@${userId}>`);
  const mention = `<@${userId}>`;
  if (!words.includes(mention)) return { text: words, mentioned: false, forOthers };
  const atTheStart = words.trimStart().startsWith(mention);
  const rest = atTheStart ? words.trimStart().slice(mention.length).replace(/^[\s,:]+/, '') : words;
  return { text: rest.replaceAll(` ${mention} `, ' ').replaceAll(mention, '').trim(), mentioned: true, forOthers };
};

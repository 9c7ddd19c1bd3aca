/** One line of the protocol: https://modern.ircdocs.horse and, for tags, https://ircv3.net/specs/extensions/message-tags */
export interface Line {
  readonly tags: ReadonlyMap<string, string>;
  /** Who sent it: a server, or `nick!user@host`. */
  readonly source: string;
  /** In capitals, or a number of three digits. */
  readonly command: string;
  readonly params: readonly string[];
}

const escapes: Readonly<Record<string, string>> = { ':': ';', s: ' ', '\\': '\\', r: '\r', n: '\n' };

const unescapeTag = (value: string): string => value.replaceAll(/\\(.?)/g, (_whole, sign: string) => escapes[sign] ?? sign);

const escapeTag = (value: string): string => value.replaceAll(/[; \\\r\n]/g, (sign) => `\\${{ ';': ':', ' ': 's', '\\': '\\', '\r': 'r', '\n': 'n' }[sign] ?? ''}`);

const shape = /^(?:@(?<tags>\S*) +)?(?::(?<source>\S*) +)?(?<command>[A-Za-z]+|\d{3})(?<rest>(?: .*)?)$/s;

/** Undefined for what is no line of the protocol. */
export const readLine = (text: string): Line | undefined => {
  const { tags = '', source = '', command, rest = '' } = shape.exec(text)?.groups ?? {};
  if (command === undefined) return undefined;
  const [, middle = '', trailing] = /^(.*?)(?: :(.*))?$/s.exec(rest) ?? [];
  const params = middle.split(' ').filter((param) => param !== '');
  const pairs = tags.split(';').filter((tag) => tag !== '').map((tag): [string, string] => {
    const [name = '', ...value] = tag.split('=');
    return [name, unescapeTag(value.join('='))];
  });
  return { tags: new Map(pairs), source, command: command.toUpperCase(), params: trailing === undefined ? params : [...params, trailing] };
};

/** The last parameter may have spaces in it. Line breaks cannot be sent, so they become spaces. */
export const printLine = (command: string, params: readonly string[], tags: Readonly<Record<string, string>> = {}): string => {
  const clean = params.map((param) => param.replaceAll(/[\r\n\0]+/g, ' '));
  const last = clean.pop();
  const written = Object.entries(tags).map(([name, value]) => `${name}=${escapeTag(value)}`).join(';');
  return [...(written === '' ? [] : [`@${written}`]), command, ...clean, ...(last === undefined ? [] : [`:${last}`])].join(' ');
};

export const nickOf = (source: string): string => source.split('!', 1)[0] ?? '';

/** Names are the same whatever the case of their letters (rfc1459). */
export const fold = (name: string): string => name.toLowerCase().replaceAll('[', '{').replaceAll(']', '}').replaceAll('\\', '|').replaceAll('~', '^');

export const isChannel = (name: string): boolean => /^[#&+!]/.test(name);

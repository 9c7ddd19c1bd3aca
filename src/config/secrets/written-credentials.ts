import { percentDecoded } from '../../lib/percent-decoded.ts';
import type { SettingNode } from '../settings/setting-node.ts';

/** Shorter values, and those of names that may mean something else, could be ordinary words. */
const leastCharacters = 8;
const looksRandom = (value: string): boolean => value.length >= 20 || /\d/.test(value) || (/[a-z]/.test(value) && /[A-Z]/.test(value));

const certain = /(?:^|-)(?:(?:api|access|secret|private|subscription|auth|app)?key|(?:access|auth|api|bot)?token|secret|password|passwd|passphrase|pass|pwd|credentials?|authorization|bearer|jwt)$/;
const likely = /(?:^|-)(?:auth|code|sig|signature|sas|pat)$/;

/** `apiKey`, `API_KEY`, `x-api-key` and `--api-key` alike. */
const plainName = (name: string): string => name.replaceAll(/([a-z])([A-Z])/g, '$1-$2').replaceAll(/[_.]/g, '-').replace(/^-+/, '').toLowerCase();

/** What stands behind a name that speaks of a credential; a scheme such as `Bearer` is no part of it. */
const valueBehind = (name: string, written: string): readonly string[] => {
  const [said, value] = [plainName(name), written.trim().replace(/^(?:Bearer|Basic|Token|Bot|ApiKey)\s+/i, '')];
  return value.length >= leastCharacters && (certain.test(said) || (likely.test(said) && looksRandom(value))) ? [value] : [];
};

/** User and password of an address, and values of its parameters, as they are written and as they are meant. */
const inAddress = (address: string): readonly string[] => {
  const url = URL.parse(address);
  if (url === null) return [];
  const login = url.password === '' ? url.username : url.password;
  const pairs = (address.split('#', 1)[0] ?? '').split('?').slice(1).join('?').split('&').map((pair) => [pair.slice(0, Math.max(0, pair.indexOf('='))), pair.slice(pair.indexOf('=') + 1)] as const);
  return [login, ...pairs.flatMap(([name, value]) => valueBehind(percentDecoded(name), value))].flatMap((text) => (text === '' ? [] : [text, percentDecoded(text)]));
};

const addresses = /[a-z][a-z0-9+.-]*:\/\/[^\s"'<>`]+/gi;
const assignments = /(?:^|[\s"'])(-{0,2}[A-Za-z][\w.-]*)=("[^"]*"|'[^']*'|[^\s"']+)/g;
const options = /(?:^|\s)(--?[A-Za-z][\w-]*)\s+("[^"]*"|'[^']*'|[^\s"'-][^\s"']*)/g;
const header = /^(?:--?[\w-]+=)?["']?([A-Za-z][\w-]*):\s*(\S.*?)["']?$/;

const unquoted = (text: string): string => text.replace(/^(["'])(.*)\1$/, '$2');

/** Credentials that stand in the middle of a text: an address, `--token X`, `API_KEY=X`, `X-Api-Key: X`. */
const inText = (text: string): readonly string[] => {
  const [, name = '', value = ''] = header.exec(text) ?? [];
  const named = [...text.matchAll(assignments), ...text.matchAll(options)].flatMap(([, before = '', behind = '']) => valueBehind(before, unquoted(behind)));
  return [...valueBehind(name, value), ...named, ...[...text.matchAll(addresses)].flatMap(([address]) => inAddress(address))];
};

/** Of a list of arguments, what follows `--token`. */
const behindOption = (items: readonly SettingNode[]): readonly string[] =>
  items.flatMap((item, at) => {
    const next = items[at + 1];
    return item.kind === 'scalar' && next?.kind === 'scalar' && /^--?[A-Za-z][\w-]*$/.test(String(item.value)) ? valueBehind(String(item.value), String(next.value)) : [];
  });

/** Credentials inside settings that are none by themselves: in addresses, arguments and lines of headers. */
export const writtenCredentials = (node: SettingNode): readonly string[] => {
  switch (node.kind) {
    case 'scalar':
      return typeof node.value === 'string' ? inText(node.value) : [];
    case 'list':
      return [...behindOption(node.items), ...node.items.flatMap(writtenCredentials)];
    case 'map':
      return [...node.entries.values()].flatMap(({ value }) => writtenCredentials(value));
    default:
      return node satisfies never;
  }
};

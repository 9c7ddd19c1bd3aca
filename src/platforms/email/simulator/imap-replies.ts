import type { ImapWord } from './imap-reader.ts';
import type { SimulatedFolder, StoredMail } from './mailboxes.ts';

export const quote = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const pad = (value: number): string => String(value).padStart(2, '0');

const internalDate = (date: Date): string =>
  `"${String(date.getUTCDate()).padStart(2, ' ')}-${months[date.getUTCMonth()] ?? ''}-${date.getUTCFullYear()} ${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}:${pad(date.getUTCSeconds())} +0000"`;

/** `5`, `5:*`, `1,3:4`; `*` is the last number there is. */
export const inSet = (set: string, number: number, last: number): boolean =>
  set.split(',').some((range) => {
    const [from = 0, to = from] = range.split(':').map((end) => (end === '*' ? last : Number(end)));
    return number >= Math.min(from, to) && number <= Math.max(from, to);
  });

const lastUid = (folder: SimulatedFolder): number => folder.mails.at(-1)?.uid ?? 0;

export const mailsIn = (folder: SimulatedFolder, set: string): readonly StoredMail[] => folder.mails.filter(({ uid }) => inSet(set, uid, lastUid(folder)));

const headersOf = (raw: Buffer): string => raw.toString('latin1').split(/\r?\n\r?\n/, 1)[0]?.replaceAll(/\r?\n[ \t]+/g, ' ') ?? '';

const startOfDay = (date: Date): number => Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate());

/** Undefined for a key that is not known. */
const matches = (folder: SimulatedFolder, args: readonly string[]): ((mail: StoredMail) => boolean) | undefined => {
  const [key = '', first = '', second = ''] = args;
  switch (key.toUpperCase()) {
    case '':
      return () => true;
    case 'ALL':
      return and(() => true, matches(folder, args.slice(1)));
    case 'UID':
      return and(({ uid }) => inSet(first, uid, lastUid(folder)), matches(folder, args.slice(2)));
    case 'SINCE':
      return and(({ arrivedAt }) => startOfDay(arrivedAt) >= Date.parse(`${first} UTC`), matches(folder, args.slice(2)));
    case 'HEADER':
      return and(({ raw }) => new RegExp(`^${first}:.*${RegExp.escape(second)}`, 'im').test(headersOf(raw)), matches(folder, args.slice(3)));
    default:
      return undefined;
  }
};

const and = (one: (mail: StoredMail) => boolean, other: ((mail: StoredMail) => boolean) | undefined): ((mail: StoredMail) => boolean) | undefined => other && ((mail) => one(mail) && other(mail));

export const searchReply = (folder: SimulatedFolder, args: readonly ImapWord[]): string | undefined => {
  const fits = matches(folder, args.map(String));
  return fits && `* SEARCH ${folder.mails.filter(fits).map(({ uid }) => uid).join(' ')}`.trimEnd();
};

/** One item of a FETCH; undefined for one that is not known. */
const fetchItem = (mail: StoredMail, item: string): Buffer | undefined => {
  const [, peek, start, length] = /^BODY(\.PEEK)?\[\](?:<(\d+)\.(\d+)>)?$/i.exec(item) ?? [];
  if (/^BODY(?:\.PEEK)?\[\]/i.test(item)) {
    if (peek === undefined) mail.flags.add('\\Seen');
    const part = start === undefined ? mail.raw : mail.raw.subarray(Number(start), Number(start) + Number(length));
    return Buffer.concat([Buffer.from(`BODY[]${start === undefined ? '' : `<${start}>`} {${part.byteLength}}\r\n`), part]);
  }
  switch (item.toUpperCase()) {
    case 'UID':
      return Buffer.from(`UID ${mail.uid}`);
    case 'FLAGS':
      return Buffer.from(`FLAGS (${[...mail.flags].join(' ')})`);
    case 'INTERNALDATE':
      return Buffer.from(`INTERNALDATE ${internalDate(mail.arrivedAt)}`);
    case 'RFC822.SIZE':
      return Buffer.from(`RFC822.SIZE ${mail.raw.byteLength}`);
    default:
      return undefined;
  }
};

export const fetchReply = (folder: SimulatedFolder, mail: StoredMail, items: readonly string[]): Buffer | undefined => {
  const wanted = items.map((item) => item.toUpperCase()).includes('UID') ? items : ['UID', ...items];
  const found = wanted.map((item) => fetchItem(mail, item));
  if (found.some((each) => each === undefined)) return undefined;
  const parts = found.flatMap((each, i) => (each === undefined ? [] : i === 0 ? [each] : [Buffer.from(' '), each]));
  return Buffer.concat([Buffer.from(`* ${folder.mails.indexOf(mail) + 1} FETCH (`), ...parts, Buffer.from(')')]);
};

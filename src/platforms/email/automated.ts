import { isOwnAddress } from './addresses.ts';

/** The header that every mail of a Hermes gateway carries. */
export const ownHeader = 'x-hermes-gateway';

const robots = /^(?:no[-_.]?reply|do[-_.]?not[-_.]?reply|mailer-daemon|postmaster|bounces?|abuse|auto[-_.]?(?:reply|responder)|daemon|nobody)(?=[-+_.=@]|$)/i;

export interface Envelope {
  readonly from: string;
  /** The first header of a name, in lower case, unfolded. */
  header(name: string): string | undefined;
}

type Sign = (mail: Envelope, own: readonly string[]) => string | undefined;

const present =
  (...names: readonly string[]): Sign =>
  (mail) => {
    const found = names.find((name) => mail.header(name) !== undefined);
    return found === undefined ? undefined : `it has a ${found} header`;
  };

const firstWord = (value: string | undefined): string => (value ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

/** What tells a machine's mail from a person's (RFC 3834, and what is usual beside it). Answering one could go on for ever. */
const signs: readonly Sign[] = [
  ({ from }, own) => (isOwnAddress(from, own) ? 'it is from ourselves' : undefined),
  present(ownHeader),
  ({ from }) => (robots.test(from) ? `${from} is an address of a machine` : undefined),
  (mail) => (/^\s*<\s*>/.test(mail.header('return-path') ?? '') ? 'its return path is empty' : undefined),
  (mail) => {
    const value = firstWord(mail.header('auto-submitted'));
    return value === '' || value === 'no' ? undefined : `Auto-Submitted: ${value}`;
  },
  (mail) => {
    const value = firstWord(mail.header('precedence'));
    return ['bulk', 'list', 'junk', 'auto_reply'].includes(value) ? `Precedence: ${value}` : undefined;
  },
  present('list-id', 'list-unsubscribe', 'list-post'),
  (mail) => (['', 'none'].includes(firstWord(mail.header('x-auto-response-suppress'))) ? undefined : 'it has an x-auto-response-suppress header'),
  present('x-autoreply', 'x-autorespond', 'x-autoresponder', 'x-loop'),
  (mail) => (firstWord(mail.header('content-type')) === 'multipart/report' ? 'it is a report of a mail server' : undefined),
];

/** Why nobody should answer this mail; undefined for a person's. */
export const whyAutomated = (mail: Envelope, own: readonly string[]): string | undefined => {
  for (const sign of signs) {
    const why = sign(mail, own);
    if (why !== undefined) return why;
  }
  return undefined;
};

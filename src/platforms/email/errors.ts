import { PlatformError } from '../../core/errors.ts';
import type { PlatformErrorCode, PlatformErrorFacts } from '../../core/errors.ts';

/** What the libraries attach to their errors. Their objects never travel further: some of them hold the password. */
interface Thrown {
  readonly code?: unknown;
  readonly message?: unknown;
  /** SMTP */
  readonly command?: unknown;
  readonly response?: unknown;
  readonly responseCode?: unknown;
  /** IMAP */
  readonly authenticationFailed?: unknown;
  readonly serverResponseCode?: unknown;
  readonly responseText?: unknown;
  readonly responseStatus?: unknown;
  readonly throttleReset?: unknown;
  readonly mailboxMissing?: unknown;
}

const fieldsOf = (error: unknown): Thrown => (typeof error === 'object' && error !== null ? error : {});

const text = (value: unknown): string => (typeof value === 'string' ? value.replaceAll(/\s+/g, ' ').trim().slice(0, 300) : '');

/** Servers name a delay in words only. */
const delayIn = (words: string): number | undefined => {
  const [, amount = '', unit = ''] = /\b(\d{1,5})\s*(s|sec|secs|seconds?|m|min|mins|minutes?|h|hours?)\b/i.exec(words) ?? [];
  if (amount === '') return undefined;
  const seconds = unit.toLowerCase().startsWith('h') ? 3600 : unit.toLowerCase().startsWith('m') ? 60 : 1;
  return Number(amount) * seconds * 1000;
};

interface Reply {
  readonly code: number;
  /** RFC 3463, such as 5.1.1; empty where the server gives none. */
  readonly enhanced: string;
  readonly words: string;
  /** Refused for this recipient, not for the whole account. */
  readonly aboutRecipient: boolean;
}

type Meaning = { readonly code: PlatformErrorCode; readonly facts?: Pick<PlatformErrorFacts, 'retryAfterMs' | 'scope'> };

const minuteMs = 60_000;

const limited = ({ words, aboutRecipient }: Reply, usualMs: number): Meaning => ({ code: 'rate_limited', facts: { retryAfterMs: delayIn(words) ?? usualMs, scope: aboutRecipient ? 'chat' : 'account' } });

/** What a refusal of a submission server means; the first row that fits wins. */
const refusals: readonly { readonly fits: (reply: Reply) => boolean; readonly means: (reply: Reply) => Meaning }[] = [
  { fits: ({ code }) => [530, 534, 535, 538].includes(code), means: () => ({ code: 'bad_credential' }) },
  { fits: ({ enhanced }) => enhanced === '5.4.5', means: (reply) => limited({ ...reply, aboutRecipient: false }, 60 * minuteMs) },
  { fits: ({ code, enhanced }) => code < 500 && (enhanced.startsWith('4.7.') || ['4.2.1', '4.5.3', '4.3.2'].includes(enhanced)), means: (reply) => limited(reply, minuteMs) },
  { fits: ({ code }) => code < 500, means: () => ({ code: 'unavailable' }) },
  { fits: ({ code, enhanced }) => ['5.3.4', '5.2.3'].includes(enhanced) || (code === 552 && enhanced === ''), means: () => ({ code: 'too_large' }) },
  { fits: ({ enhanced, aboutRecipient }) => aboutRecipient && (enhanced.startsWith('5.1.') || enhanced === '5.2.1'), means: () => ({ code: 'chat_gone' }) },
  { fits: ({ enhanced, aboutRecipient }) => aboutRecipient && enhanced.startsWith('5.7.'), means: () => ({ code: 'forbidden' }) },
  { fits: ({ code, enhanced, aboutRecipient }) => aboutRecipient && enhanced === '' && [550, 551, 553].includes(code), means: () => ({ code: 'chat_gone' }) },
];

const meaningOf = (reply: Reply): Meaning => refusals.find(({ fits }) => fits(reply))?.means(reply) ?? { code: 'rejected' };

/** `mayHaveArrived` once the whole message has left: then only a definite answer says what became of it. */
export const smtpError = (error: unknown, { mayHaveArrived, signal }: { readonly mayHaveArrived: boolean; readonly signal: AbortSignal }): PlatformError => {
  if (error instanceof PlatformError) return error;
  const thrown = fieldsOf(error);
  const code = typeof thrown.responseCode === 'number' && thrown.responseCode >= 400 ? thrown.responseCode : undefined;
  if (code !== undefined) {
    const words = text(thrown.response);
    const reply: Reply = { code, enhanced: /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(words)?.[1] ?? '', words, aboutRecipient: thrown.command === 'RCPT TO' };
    const { code: meant, facts } = meaningOf(reply);
    return new PlatformError(meant, `the SMTP server said: ${words}`, facts);
  }
  if (signal.aborted) return new PlatformError(mayHaveArrived ? 'unknown_outcome' : 'aborted', 'aborted');
  return new PlatformError(mayHaveArrived ? 'unknown_outcome' : 'unavailable', `the SMTP server: ${text(thrown.code) || 'the connection was lost'}`);
};

/** RFC 5530: temporary troubles that are no word about the password. */
const passing: ReadonlySet<unknown> = new Set(['UNAVAILABLE', 'INUSE', 'LIMIT', 'SERVERBUG', 'CONTACTADMIN']);

export const imapError = (error: unknown, signal: AbortSignal): PlatformError => {
  if (error instanceof PlatformError) return error;
  if (signal.aborted) return new PlatformError('aborted', 'aborted');
  const thrown = fieldsOf(error);
  const said = text(thrown.responseText) || text(thrown.response) || text(thrown.code) || 'the connection was lost';
  const refused = thrown.authenticationFailed === true && text(thrown.responseStatus) === 'NO';
  if (refused && !passing.has(thrown.serverResponseCode)) return new PlatformError('bad_credential', `the IMAP server refused the login: ${said}`);
  if (thrown.code === 'ETHROTTLE') return new PlatformError('rate_limited', `the IMAP server: ${said}`, { scope: 'account', ...(typeof thrown.throttleReset === 'number' && { retryAfterMs: thrown.throttleReset }) });
  const isDefinite = thrown.responseStatus === 'NO' && !passing.has(thrown.serverResponseCode);
  return new PlatformError(isDefinite ? 'rejected' : 'unavailable', `the IMAP server: ${said}`);
};

/** The folder does not exist, or may not be opened. */
export const isMissingFolder = (error: unknown): boolean => {
  const thrown = fieldsOf(error);
  return thrown.mailboxMissing === true || thrown.code === 'NotFound' || thrown.serverResponseCode === 'NONEXISTENT' || thrown.responseStatus === 'NO';
};

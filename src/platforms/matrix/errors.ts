import { PlatformError } from '../../core/errors.ts';
import type { PlatformErrorCode, PlatformErrorFacts } from '../../core/errors.ts';
import { integer, record, text } from './wire.ts';

/** What kind of call failed; decides what a lost answer means. */
export interface CallFacts {
  readonly what: string;
  /** Its effect is seen: when the answer is lost, nobody knows whether it happened. */
  readonly visible?: true;
  /** What a 404 says is missing, besides the chat. */
  readonly missing?: NonNullable<PlatformErrorFacts['missing']>;
}

/** https://spec.matrix.org/latest/client-server-api/#standard-error-response */
const codes: Readonly<Record<string, PlatformErrorCode>> = {
  M_UNKNOWN_TOKEN: 'bad_credential',
  M_MISSING_TOKEN: 'bad_credential',
  M_USER_DEACTIVATED: 'bad_credential',
  M_USER_LOCKED: 'bad_credential',
  M_USER_SUSPENDED: 'forbidden',
  M_FORBIDDEN: 'forbidden',
  M_GUEST_ACCESS_FORBIDDEN: 'forbidden',
  M_CONSENT_NOT_GIVEN: 'forbidden',
  M_LIMIT_EXCEEDED: 'rate_limited',
  M_TOO_LARGE: 'too_large',
  M_UNRECOGNIZED: 'unsupported',
  M_DUPLICATE_ANNOTATION: 'conflict',
};

/** What the homeserver said when it refused. */
export interface Refusal {
  readonly status: number;
  readonly errcode: string;
  readonly words: string;
  readonly softLogout: boolean;
  readonly retryAfterMs?: number;
  /** In which a password may be given, where the homeserver wants one for this. */
  readonly session?: string;
}

export const readRefusal = (status: number, body: unknown, retryAfter: string | null): Refusal => {
  const answer = record(body);
  const seconds = retryAfter === null ? Number.NaN : Number(retryAfter);
  const retryAfterMs = integer(answer?.['retry_after_ms']) ?? (Number.isFinite(seconds) ? seconds * 1000 : undefined);
  const session = text(answer?.['session']);
  return {
    status,
    errcode: text(answer?.['errcode']) ?? '',
    words: text(answer?.['error']) ?? '',
    softLogout: answer?.['soft_logout'] === true,
    ...(session !== undefined && { session }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
};

const codeOf = ({ status, errcode }: Refusal, facts: CallFacts): PlatformErrorCode => {
  // What is seen is an event, which holds words and the address of a file, but no file.
  if (facts.visible === true && (status === 413 || errcode === 'M_TOO_LARGE')) return 'too_long';
  if (status === 429) return 'rate_limited';
  if (status >= 500) return 'unavailable';
  if (errcode === 'M_NOT_FOUND' || (status === 404 && errcode === '')) return facts.missing === undefined ? 'chat_gone' : 'not_found';
  if (status === 413) return 'too_large';
  return codes[errcode] ?? (status === 401 || status === 403 ? 'forbidden' : 'rejected');
};

/** A refusal keeps what the homeserver called it, for callers to whom a particular one is no failure. */
export class MatrixError extends PlatformError {
  readonly refusal: Refusal;

  constructor(refusal: Refusal, facts: CallFacts) {
    const code = codeOf(refusal, facts);
    const { retryAfterMs } = refusal;
    super(code, `${facts.what}: ${refusal.status} ${refusal.errcode}`.trim(), {
      // Homeservers count what one account sends, wherever it sends it.
      ...(code === 'rate_limited' && { scope: 'account', ...(retryAfterMs !== undefined && { retryAfterMs }) }),
      ...(code === 'not_found' && facts.missing !== undefined && { missing: facts.missing }),
    });
    this.refusal = refusal;
  }
}

/** Failures of `fetch` that prove that nothing was sent. */
const beforeSending: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID']);

const causeCode = (error: unknown): string | undefined => {
  const cause = record(error)?.['cause'];
  return text(record(cause)?.['code']) ?? text(record(error)?.['code']);
};

/** The one place where a call without an answer gets its code. What was sent does not travel with the error. */
export const lostCall = (error: unknown, facts: CallFacts, signal: AbortSignal): PlatformError => {
  if (error instanceof PlatformError) return error;
  const code = causeCode(error);
  const reason = `${facts.what}: ${code === undefined ? 'no answer' : `connection failed (${code})`}`;
  const unsent = code !== undefined && beforeSending.has(code);
  if (signal.aborted) return new PlatformError('aborted', `${facts.what}: aborted`);
  return new PlatformError(facts.visible === true && !unsent ? 'unknown_outcome' : 'unavailable', reason);
};

/** Whether the homeserver refused with one of these codes. */
export const refusedWith = (error: unknown, ...errcodes: readonly string[]): error is MatrixError => error instanceof MatrixError && errcodes.includes(error.refusal.errcode);

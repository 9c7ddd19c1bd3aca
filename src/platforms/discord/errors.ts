import { PlatformError } from '../../core/errors.ts';
import type { PlatformErrorCode, PlatformErrorFacts } from '../../core/errors.ts';
import { TransportError } from './transport.ts';
import { integer, record, text } from './wire.ts';
import type { Json } from './wire.ts';

/** What kind of call failed: decides what a lost answer means. */
export interface CallFacts {
  /** `POST /channels/{channel}/messages`, for the message of an error; it holds no ids and no tokens. */
  readonly name: string;
  /** A repeat would be seen twice, or cannot be told from the first. */
  readonly once: boolean;
}

interface Meaning {
  readonly code: PlatformErrorCode;
  readonly missing?: NonNullable<PlatformErrorFacts['missing']>;
}

/** https://discord.com/developers/docs/topics/opcodes-and-status-codes#json */
const meanings: Readonly<Record<number, Meaning>> = {
  10003: { code: 'chat_gone' }, // unknown channel
  10004: { code: 'chat_gone' }, // unknown guild
  10008: { code: 'not_found', missing: 'message' },
  10014: { code: 'unsupported' }, // unknown emoji
  10015: { code: 'not_found', missing: 'message' }, // unknown webhook: the interaction is over
  10062: { code: 'not_found', missing: 'message' }, // unknown interaction
  30007: { code: 'unsupported' },
  30010: { code: 'unsupported' }, // most reactions reached
  30033: { code: 'unsupported' }, // most members of a thread reached
  40005: { code: 'too_large' },
  50006: { code: 'rejected' }, // empty message
  50008: { code: 'unsupported' }, // no messages in this kind of channel
  50024: { code: 'unsupported' }, // not in this kind of channel
  50027: { code: 'not_found', missing: 'message' }, // the interaction's token has expired
  160002: { code: 'unsupported' }, // no reply without reading the history
  160004: { code: 'rejected' }, // the message has a thread already
  160005: { code: 'forbidden' }, // locked thread
  160006: { code: 'unsupported' }, // most active threads reached
};

const byStatus: Readonly<Record<number, PlatformErrorCode>> = { 401: 'bad_credential', 403: 'forbidden', 404: 'not_found', 413: 'too_large', 429: 'rate_limited' };

const invalidForm = 50035;

/** Every code that stands below a field of a refused form. */
const formCodes = (value: unknown, depth = 0): readonly string[] => {
  const node = record(value);
  if (node === undefined || depth > 8) return Array.isArray(value) ? value.flatMap((item: unknown) => formCodes(item, depth + 1)) : [];
  const own = text(node['code']);
  return [...(own === undefined ? [] : [own]), ...Object.values(node).flatMap((child) => formCodes(child, depth + 1))];
};

const meaningOf = (status: number, answer: Json | undefined): Meaning => {
  const code = integer(answer?.['code']);
  const known = code === undefined ? undefined : meanings[code];
  if (known !== undefined) return known;
  if (code === invalidForm) {
    const fields = record(answer?.['errors']);
    if (fields?.['message_reference'] !== undefined) return { code: 'not_found', missing: 'reply' };
    if (formCodes(fields?.['content']).includes('BASE_TYPE_MAX_LENGTH')) return { code: 'too_long' };
  }
  return { code: byStatus[status] ?? 'rejected' };
};

/** The error for an answer that is not a success. `answer` is its JSON, if it was any. */
export const refusal = (facts: CallFacts, status: number, answer: Json | undefined): PlatformError => {
  const detail = `${facts.name}: HTTP ${status} ${text(answer?.['message']) ?? ''} (${integer(answer?.['code']) ?? 'no code'})`;
  // A gateway in front of Discord answers with 5xx also for calls that were carried out.
  if (status >= 500) return new PlatformError(facts.once ? 'unknown_outcome' : 'unavailable', detail);
  const { code, missing } = meaningOf(status, answer);
  return new PlatformError(code, detail, missing === undefined ? {} : { missing });
};

/** The one place where a call without an answer gets its code. */
export const toPlatformError = (error: unknown, facts: CallFacts, signal: AbortSignal): PlatformError => {
  if (error instanceof PlatformError) return error;
  if (signal.aborted) return new PlatformError('aborted', 'aborted');
  if (error instanceof TransportError) {
    const lost = facts.once && error.phase !== 'connecting';
    return new PlatformError(lost ? 'unknown_outcome' : 'unavailable', `${facts.name}: ${error.message}`, { cause: error });
  }
  return new PlatformError(facts.once ? 'unknown_outcome' : 'unavailable', `${facts.name}: the call failed`, { cause: error });
};

/** For refusals that mean: it already is as it should be. Passes every other error on. */
export const unlessCode =
  (...codes: readonly PlatformErrorCode[]) =>
  (error: unknown): undefined => {
    if (!(error instanceof PlatformError) || !codes.includes(error.code)) throw error;
    return undefined;
  };

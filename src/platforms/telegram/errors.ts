import { PlatformError } from '../../core/errors.ts';
import type { PlatformErrorCode, PlatformErrorFacts } from '../../core/errors.ts';
import { TransportError } from './transport.ts';
import { integer, record, text } from './wire.ts';
import type { Json } from './wire.ts';

/** What kind of call failed; decides what a lost answer means and whom a rate limit covers. */
export interface CallFacts {
  /** A repeat would be seen twice. */
  readonly once: boolean;
  readonly scope: 'chat' | 'account';
}

interface Meaning {
  readonly code: PlatformErrorCode;
  readonly missing?: NonNullable<PlatformErrorFacts['missing']>;
}

/**
 * Telegram has one number for a hundred refusals and says which one in words only, so here the words are the protocol.
 * The first row that fits wins: what is wrong inside a chat comes before what is wrong with the chat.
 */
const descriptions: readonly (Meaning & { readonly status?: number; readonly pattern: RegExp })[] = [
  { pattern: /too many requests|flood control|rate limit exceeded/i, code: 'rate_limited' },
  { pattern: /message thread not found|TOPIC_(?:DELETED|ID_INVALID)/i, code: 'not_found', missing: 'thread' },
  { pattern: /message to (?:be replied|reply) not found|replied message not found|REPLY_MESSAGE_ID_INVALID/i, code: 'not_found', missing: 'reply' },
  { pattern: /message to \w+ not found|message not found|MESSAGE_ID_INVALID|query is too old|QUERY_ID_INVALID/i, code: 'not_found', missing: 'message' },
  { pattern: /file is too big|request entity too large|FILE_PARTS?_.*INVALID/i, code: 'too_large' },
  { pattern: /wrong (?:file|remote file)|invalid file_id|FILE_REFERENCE_|FILE_ID_INVALID/i, code: 'not_found', missing: 'file' },
  { pattern: /is too long|MESSAGE_TOO_LONG|CAPTION_TOO_LONG/i, code: 'too_long' },
  { pattern: /can't parse entities|can't find end of|ENTIT(?:Y|IES)_|message text is empty|text must be non-empty/i, code: 'bad_format' },
  { pattern: /not a (?:forum|supergroup)|CHAT_NOT_FORUM|FORUM_(?:DISABLED|ENABLED)|topics? (?:is|are) (?:not enabled|disabled)/i, code: 'unsupported' },
  { pattern: /REACTION_INVALID|REACTIONS_TOO_MANY|VOICE_MESSAGES_FORBIDDEN|PHOTO_\w*INVALID|IMAGE_PROCESS_FAILED/i, code: 'unsupported' },
  { pattern: /chat not found|user not found|upgraded to a supergroup|PEER_ID_INVALID|group chat was (?:deleted|deactivated)/i, code: 'chat_gone' },
  { pattern: /not enough rights|no rights|administrator rights|CHAT_(?:WRITE|SEND_\w+)_FORBIDDEN|CHAT_ADMIN_REQUIRED|CHAT_RESTRICTED|USER_IS_BLOCKED/i, code: 'forbidden' },
  { pattern: /bot was (?:blocked|kicked)|user is deactivated|bot is not a member|can't initiate conversation|can't send messages to/i, code: 'forbidden' },
  { status: 401, pattern: /./, code: 'bad_credential' },
  { status: 403, pattern: /./, code: 'forbidden' },
  // A token that Telegram cannot even read makes the whole address unknown.
  { status: 404, pattern: /^not found$/i, code: 'bad_credential' },
  { status: 409, pattern: /./, code: 'conflict' },
  { status: 413, pattern: /./, code: 'too_large' },
  { status: 429, pattern: /./, code: 'rate_limited' },
];

/** What a refusal means. `status` is the `error_code` of the answer where there is one. */
export const classifyDescription = (status: number | undefined, description: string): Meaning => {
  if (status !== undefined && status >= 500) return { code: 'unavailable' };
  const row = descriptions.find((rule) => (rule.status === undefined || rule.status === status) && rule.pattern.test(description));
  if (row === undefined) return { code: 'rejected' };
  return { code: row.code, ...(row.missing !== undefined && { missing: row.missing }) };
};

/** Telegram has answered, and does not want to. */
export class Refusal extends Error {
  readonly method: string;
  readonly answer: Json;

  constructor(method: string, answer: Json) {
    super(`${method} was refused`);
    this.name = 'Refusal';
    this.method = method;
    this.answer = answer;
  }
}

const meaningOf = ({ method, answer }: Refusal, facts: CallFacts): PlatformError => {
  const status = integer(answer['error_code']);
  const description = text(answer['description']) ?? '';
  const parameters = record(answer['parameters']);
  const retryAfter = integer(parameters?.['retry_after']);
  const moved = integer(parameters?.['migrate_to_chat_id']);
  const { code, missing } = classifyDescription(status, description === '' ? 'refused' : description);
  return new PlatformError(code, `${method}: ${status ?? 'refused'} ${description}`, {
    ...(missing !== undefined && { missing }),
    ...(moved !== undefined && { movedToChatId: String(moved) }),
    ...(code === 'rate_limited' && { scope: facts.scope }),
    ...(code === 'rate_limited' && retryAfter !== undefined && { retryAfterMs: retryAfter * 1000 }),
  });
};

/** The one place where a failed call gets its code. Neither the token nor what was sent travels with the error. */
export const toPlatformError = (error: unknown, facts: CallFacts, signal: AbortSignal): PlatformError => {
  if (error instanceof PlatformError) return error;
  if (signal.aborted) return new PlatformError('aborted', 'aborted');
  if (error instanceof Refusal) return meaningOf(error, facts);
  if (error instanceof TransportError) {
    const code = facts.once && error.phase !== 'connecting' ? 'unknown_outcome' : 'unavailable';
    return new PlatformError(code, error.message, { cause: error });
  }
  // Our own file could not be read while it was uploaded: the request never became whole.
  if (text(record(error)?.['syscall']) !== undefined) return new PlatformError('rejected', 'the file could not be read', { cause: error });
  return new PlatformError(facts.once ? 'unknown_outcome' : 'unavailable', 'the call failed', {});
};

/** For refusals that mean: it already is as it should be. Passes every other error on. */
export const unlessRefusedWith =
  (pattern: RegExp) =>
  (error: unknown): void => {
    if (!(error instanceof Refusal) || !pattern.test(text(error.answer['description']) ?? '')) throw error;
  };

export const notModified = /message is not modified/i;
export const topicNotModified = /TOPIC_NOT_MODIFIED/i;
export const alreadyDeleted = /message to delete not found/i;

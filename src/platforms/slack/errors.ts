import { PlatformError } from '../../core/errors.ts';
import type { PlatformErrorCode, PlatformErrorFacts } from '../../core/errors.ts';
import { list, record, text } from './wire.ts';
import type { Json } from './wire.ts';

/** What kind of call failed; decides what a lost answer means and whom a rate limit covers. */
export interface CallFacts {
  readonly method: string;
  /** A repeat would be seen twice. */
  readonly once: boolean;
  readonly scope: 'chat' | 'account';
}

interface Meaning {
  readonly code: PlatformErrorCode;
  readonly missing?: NonNullable<PlatformErrorFacts['missing']>;
  /** What the owner does about it. */
  readonly fix?: string;
}

const codes: Readonly<Record<string, readonly string[]>> = {
  bad_credential: ['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired', 'not_allowed_token_type', 'invalid_token', 'team_access_not_granted', 'two_factor_setup_required'],
  rate_limited: ['ratelimited', 'rate_limited', 'message_limit_exceeded', 'too_many_requests'],
  unavailable: ['service_unavailable', 'request_timeout', 'team_added_to_org', 'accesslimited'],
  forbidden: ['restricted_action', 'restricted_action_read_only_channel', 'restricted_action_thread_only_channel', 'restricted_action_non_threadable_channel', 'restricted_action_thread_locked', 'ekm_access_denied', 'access_denied', 'no_permission', 'cannot_dm_bot', 'user_disabled', 'messages_tab_disabled', 'user_is_restricted', 'is_bot'],
  chat_gone: ['channel_not_found', 'is_archived', 'user_not_found', 'users_not_found', 'channel_type_not_supported'],
  bad_format: ['invalid_blocks', 'invalid_blocks_format', 'no_text', 'invalid_attachments', 'markdown_text_conflict'],
  too_long: ['msg_too_long', 'msg_blocks_too_long'],
  too_large: ['file_too_large', 'file_uploads_limit_reached', 'storage_limit_reached'],
  unsupported: ['invalid_name', 'too_many_emoji', 'too_many_reactions', 'unknown_method', 'method_deprecated', 'file_uploads_disabled', 'file_uploads_except_images_disabled', 'not_reactable'],
};

const particular: Readonly<Record<string, Meaning>> = {
  not_in_channel: { code: 'forbidden', fix: 'invite the app to the channel with /invite' },
  message_not_found: { code: 'not_found', missing: 'message' },
  bad_timestamp: { code: 'not_found', missing: 'message' },
  thread_not_found: { code: 'not_found', missing: 'thread' },
  invalid_thread_ts: { code: 'not_found', missing: 'thread' },
  cannot_reply_to_message: { code: 'not_found', missing: 'thread' },
  file_not_found: { code: 'not_found', missing: 'file' },
  file_deleted: { code: 'not_found', missing: 'file' },
  link_disabled: { code: 'bad_credential', fix: 'switch Socket Mode on in the settings of the app' },
};

const meanings: ReadonlyMap<string, Meaning> = new Map([
  ...Object.entries(codes).flatMap(([code, errors]) => errors.map((error): [string, Meaning] => [error, { code: code as PlatformErrorCode }])),
  ...Object.entries(particular),
]);

/** Slack says of these that a part of what was asked for may have happened. */
const halfDone: ReadonlySet<string> = new Set(['fatal_error', 'internal_error']);

/** What one of Slack's error words means for a call. */
export const meaningOf = (error: string, facts: CallFacts): Meaning => {
  if (halfDone.has(error)) return { code: facts.once ? 'unknown_outcome' : 'unavailable' };
  if (error === 'missing_scope') return { code: facts.scope === 'account' ? 'bad_credential' : 'rejected' };
  return meanings.get(error) ?? { code: 'rejected' };
};

const detailOf = (answer: Json, error: string): string => {
  const needed = text(answer['needed']);
  if (error === 'missing_scope' && needed !== undefined) return `; add the scope ${needed} under OAuth & Permissions and install the app again`;
  const messages = list(record(answer['response_metadata'])?.['messages']).filter((message) => typeof message === 'string');
  return messages.length === 0 ? '' : ` (${messages.slice(0, 3).join('; ')})`;
};

/** An answer with `ok: false`. */
export const refusal = (answer: Json, facts: CallFacts, retryAfterMs?: number): PlatformError => {
  const error = text(answer['error']) ?? 'refused';
  const { code, missing, fix } = meaningOf(error, facts);
  const hint = fix === undefined ? '' : `; ${fix}`;
  return new PlatformError(code, `${facts.method}: ${error}${hint}${detailOf(answer, error)}`, {
    ...(missing !== undefined && { missing }),
    ...(code === 'rate_limited' && { scope: facts.scope }),
    ...(code === 'rate_limited' && retryAfterMs !== undefined && { retryAfterMs }),
    cause: new SlackRefusal(error),
  });
};

/** Slack's own word for what it refused, for callers to whom one of them means success. */
class SlackRefusal extends Error {
  readonly error: string;

  constructor(error: string) {
    super(error);
    this.name = 'SlackRefusal';
    this.error = error;
  }
}

export const isRefusedWith = (error: unknown, ...words: readonly string[]): boolean => error instanceof PlatformError && error.cause instanceof SlackRefusal && words.includes(error.cause.error);

/** The request never became a connection, so Slack cannot have seen it. */
const neverSent: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT', 'ERR_INVALID_URL']);

const ownCode = (error: unknown): string | undefined => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined);

/** `fetch` wraps what happened, and several addresses of a host that all failed are wrapped once more. */
const codeOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined;
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return ownCode(error) ?? codeOf(inner);
};

/** A call without a usable answer. The cause is named by its code only: what it holds may hold what we sent. */
export const brokenCall = (error: unknown, facts: CallFacts, signal: AbortSignal): PlatformError => {
  if (error instanceof PlatformError) return error;
  if (signal.aborted) return new PlatformError('aborted', 'aborted');
  const code = codeOf(error);
  const sent = !neverSent.has(code);
  const timedOut = error instanceof Error && error.name === 'TimeoutError';
  const reason = timedOut ? 'no answer in time' : `the connection failed${code === undefined ? '' : ` (${code})`}`;
  return new PlatformError(facts.once && sent ? 'unknown_outcome' : 'unavailable', `${facts.method}: ${reason}`);
};

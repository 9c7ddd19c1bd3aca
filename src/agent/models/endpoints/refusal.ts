import { ModelError } from '../../../core/errors.ts';
import type { ModelErrorCode } from '../../../core/errors.ts';
import { countOf, listOf, recordOf, textOf } from '../wires/json-fields.ts';

interface StatusRule {
  readonly code: ModelErrorCode;
  /** The status says it all: the body cannot change it. */
  readonly certain?: true;
}

const byStatus: Readonly<Record<number, StatusRule>> = {
  400: { code: 'bad_request' },
  401: { code: 'auth', certain: true },
  402: { code: 'billing', certain: true },
  403: { code: 'auth' },
  404: { code: 'model_not_found' },
  408: { code: 'timeout', certain: true },
  409: { code: 'server_error' },
  413: { code: 'payload_too_large' },
  422: { code: 'bad_request' },
  429: { code: 'rate_limited' },
  500: { code: 'server_error' },
  502: { code: 'server_error' },
  503: { code: 'overloaded' },
  504: { code: 'timeout' },
  522: { code: 'timeout', certain: true },
  524: { code: 'timeout', certain: true },
  529: { code: 'overloaded', certain: true },
};

/** Words that servers put into `error.code`, `error.type` or `error.status`. General ones, such as `api_error`, say less than the status. */
const byWord: Readonly<Record<string, ModelErrorCode>> = {
  invalid_api_key: 'auth',
  account_deactivated: 'auth',
  authentication_error: 'auth',
  permission_error: 'auth',
  unsupported_country_region_territory: 'auth',
  UNAUTHENTICATED: 'auth',
  PERMISSION_DENIED: 'auth',
  insufficient_quota: 'billing',
  billing_hard_limit_reached: 'billing',
  billing_not_active: 'billing',
  billing_error: 'billing',
  rate_limit_exceeded: 'rate_limited',
  rate_limit_error: 'rate_limited',
  RESOURCE_EXHAUSTED: 'rate_limited',
  overloaded_error: 'overloaded',
  engine_overloaded_error: 'overloaded',
  server_is_overloaded: 'overloaded',
  slow_down: 'overloaded',
  UNAVAILABLE: 'overloaded',
  timeout_error: 'timeout',
  DEADLINE_EXCEEDED: 'timeout',
  context_length_exceeded: 'context_overflow',
  exceed_context_size_error: 'context_overflow',
  model_context_window_exceeded: 'context_overflow',
  string_above_max_length: 'context_overflow',
  request_too_large: 'payload_too_large',
  model_not_found: 'model_not_found',
  not_found_error: 'model_not_found',
  NOT_FOUND: 'model_not_found',
  content_policy_violation: 'content_blocked',
  content_filter: 'content_blocked',
  invalid_prompt: 'content_blocked',
  invalid_encrypted_content: 'stale_reasoning',
  ResponsibleAIPolicyViolation: 'content_blocked',
};

interface PhraseRule {
  readonly phrase: RegExp;
  readonly code: ModelErrorCode;
  /** Only with these statuses; without it, with any. */
  readonly status?: readonly number[];
}

/** Asked last, in this order, when neither status nor code is clear: a limit that says when it ends is not an empty account. */
const byPhrase: readonly PhraseRule[] = [
  { phrase: /signature`? in `?thinking|redacted_thinking`? blocks|expected `?thinking`? or|thinking block.{0,120}(prefix|invalid|changed)|encrypted content.{0,120}(verified|decrypted|parsed)|of type 'reasoning' was provided without/i, code: 'stale_reasoning', status: [400, 422] },
  { phrase: /overloaded|over capacity|at capacity|server is busy/i, code: 'overloaded', status: [429, 500, 502, 503] },
  { phrase: /resets? (at|in|after)|(retry|try again) in|per (minute|hour|day)/i, code: 'rate_limited', status: [403, 413, 429] },
  { phrase: /context (length|window|size|limit)|maximum (context|prompt|input)|prompt is too long|input is too long|too many (input )?tokens/i, code: 'context_overflow' },
  { phrase: /exceeds? the (limit|maximum) (number )?of (\d+ )?tokens|reduce the length of the (messages|prompt|input)/i, code: 'context_overflow' },
  { phrase: /(insufficient|not enough|out of) (credits?|balance|funds|quota)|credit balance|exceeded your current quota/i, code: 'billing', status: [400, 403, 429] },
  { phrase: /api[ _-]?key (is )?(not valid|invalid|missing|expired)|(invalid|incorrect|missing) api[ _-]?key/i, code: 'auth', status: [400, 403, 404, 422] },
  { phrase: /model\b.{0,80}\b(not found|does not exist|is not available)|(unknown|no such|invalid) model/i, code: 'model_not_found', status: [400, 403, 404, 422] },
  { phrase: /content (management )?policy|content filter|flagged (by|as|for)|usage polic|safety (system|filter|reasons)/i, code: 'content_blocked', status: [400, 403, 422] },
  { phrase: /validation error|invalid[ _]request|is not supported|unsupported (parameter|value)/i, code: 'bad_request', status: [500] },
];

export interface ErrorBody {
  readonly status: number | undefined;
  readonly words: readonly string[];
  /** The field of the request that is refused. */
  readonly param: string | undefined;
  readonly text: string;
  /** The window, where it has a field of its own. */
  readonly windowTokens: number | undefined;
}

/** The error object of a server, in any of the forms that are about. */
export const readErrorBody = (body: unknown): ErrorBody => {
  const outer = recordOf(listOf(body)?.[0] ?? body);
  const wrapped = recordOf(outer?.['error']) ?? outer;
  const inner = recordOf(wrapped?.['error']) ?? wrapped;
  const words = ['code', 'type', 'status'].flatMap((field) => textOf(inner?.[field]) ?? []);
  const status = countOf(inner?.['code']) ?? (/^[45]\d\d$/.test(words[0] ?? '') ? Number(words[0]) : undefined);
  const detail = inner?.['message'] ?? outer?.['error'] ?? outer?.['detail'] ?? body;
  return {
    status,
    words,
    param: textOf(inner?.['param']),
    text: typeof detail === 'string' ? detail : detail === undefined ? '' : JSON.stringify(detail),
    windowTokens: countOf(inner?.['n_ctx']),
  };
};

/** How servers name the window in words; the number is the first group. */
const windowPhrases: readonly RegExp[] = [
  /maximum context length (?:is|of) ([\d,]+)/i,
  /context length (?:is|of) (?:only )?([\d,]+)/i,
  /context (?:window|size|limit) (?:is|of) (?:only )?([\d,]+)/i,
  /tokens? > ([\d,]+) maximum/i,
  /context limit: [\d,]+ \+ [\d,]+ > ([\d,]+)/i,
  /maximum number of tokens allowed \(([\d,]+)\)/i,
  /limit of ([\d,]+) tokens/i,
  /available context size \(([\d,]+)/i,
];

/** Smaller ones are not windows but the number of something else. */
const leastWindowTokens = 256;

const windowIn = (body: ErrorBody): number | undefined => {
  const said = body.windowTokens ?? windowPhrases.map((phrase) => phrase.exec(body.text)?.[1]).find((found) => found !== undefined);
  const tokens = typeof said === 'string' ? Number(said.replaceAll(',', '')) : said;
  return tokens !== undefined && tokens >= leastWindowTokens ? tokens : undefined;
};

const byClass = (status: number): ModelErrorCode => (status >= 500 ? 'server_error' : 'bad_request');

const classify = (status: number | undefined, body: ErrorBody): ModelErrorCode => {
  const rule = status === undefined ? undefined : byStatus[status];
  if (rule?.certain) return rule.code;
  for (const word of body.words) {
    const code = Object.hasOwn(byWord, word) ? byWord[word] : undefined;
    if (code !== undefined) return code;
  }
  const text = body.text.slice(0, 4000);
  const phrase = byPhrase.find((each) => (each.status === undefined || status === undefined || each.status.includes(status)) && each.phrase.test(text));
  return phrase?.code ?? rule?.code ?? (status === undefined ? 'server_error' : byClass(status));
};

export interface Refusal {
  /** Undefined for an error inside a stream that began well. */
  readonly status?: number;
  /** The decoded JSON, or the text when it is none. */
  readonly body: unknown;
  readonly retryAfterMs?: number;
  readonly requestId?: string;
  /** Takes credentials out of the server's words: some servers repeat the key they refuse. */
  readonly redact: (text: string) => string;
}

/** A server's refusal as a `ModelError`: the status decides, then the error's code, and its words only where both leave it open. */
export const refusalError = (refusal: Refusal): ModelError => {
  const body = readErrorBody(refusal.body);
  const status = refusal.status ?? body.status;
  const code = classify(status, body);
  const windowTokens = code === 'context_overflow' ? windowIn(body) : undefined;
  const said = refusal.redact(body.text).replaceAll(/\s+/g, ' ').trim().slice(0, 300);
  const what = status === undefined ? 'the model reported an error' : `the model answered with status ${status}`;
  const request = refusal.requestId === undefined ? '' : ` (request ${refusal.requestId.slice(0, 80)})`;
  return new ModelError(code, `${what}${request}${said === '' ? '' : `: ${said}`}`, {
    ...(status !== undefined && { status }),
    ...(refusal.retryAfterMs !== undefined && { retryAfterMs: refusal.retryAfterMs }),
    ...(windowTokens !== undefined && { windowTokens }),
  });
};

const byNetworkCode: Readonly<Record<string, ModelErrorCode>> = {
  ETIMEDOUT: 'timeout',
  Z_DATA_ERROR: 'malformed',
};

/** The first code in an error and its causes. */
const networkCode = (error: unknown): string | undefined => {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return undefined;
};

/** A failure below HTTP. Before the first byte of an answer the server is unreachable, later the stream is cut. */
export const networkError = (error: unknown, answering: boolean): ModelError => {
  const found = networkCode(error);
  const known = found === undefined ? undefined : (byNetworkCode[found] ?? (found.startsWith('HPE_') ? 'malformed' : undefined));
  const code = known ?? (answering ? 'cut_stream' : 'unreachable');
  const what = answering ? 'the connection to the model broke' : 'no answer from the model';
  return new ModelError(code, `${what} (${found ?? 'unknown network error'})`, { cause: error });
};

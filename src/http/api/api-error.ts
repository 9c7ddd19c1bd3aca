import type { Context } from 'hono';

export type ApiErrorType = 'invalid_request_error' | 'rate_limit_error' | 'server_error';

type Status = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | 500 | 502 | 503 | 504;

export interface ApiErrorFacts {
  readonly code?: string;
  /** What of the request is wrong, as `messages[2].content`. */
  readonly param?: string;
  readonly retryAfterMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

const typeOf = (status: Status): ApiErrorType => (status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error');

/** The form in which clients of OpenAI know errors. */
export interface ErrorBody {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** A refusal that the client is told in so many words. */
export class ApiError extends Error {
  readonly status: Status;
  readonly facts: ApiErrorFacts;

  constructor(status: Status, message: string, facts: ApiErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'ApiError';
    this.status = status;
    this.facts = facts;
  }

  get body(): ErrorBody {
    return { message: this.message, type: typeOf(this.status), param: this.facts.param ?? null, code: this.facts.code ?? null };
  }
}

/** The answer to a request that is refused. */
export const refuse = (c: Context, error: ApiError): Response => {
  const { retryAfterMs, headers = {} } = error.facts;
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  if (retryAfterMs !== undefined) c.header('retry-after', String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
  return c.json({ error: error.body }, error.status);
};

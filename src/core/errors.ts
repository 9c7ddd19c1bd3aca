/** What a platform's failure means for a delivery or a connection. One adapter call, one code. */
export type PlatformErrorCode =
  | 'unavailable' // certainly not accepted: no connection, or a definite temporary refusal
  | 'unknown_outcome' // the request left, the answer was lost
  | 'rate_limited'
  | 'bad_credential'
  | 'conflict' // somebody else uses this credential
  | 'forbidden' // blocked, kicked, no rights
  | 'chat_gone' // the whole chat does not exist (any more)
  | 'not_found' // a thread, message or file inside a living chat
  | 'bad_format' // markup refused
  | 'too_long'
  | 'too_large' // a file
  | 'unsupported'
  | 'aborted'
  | 'rejected'; // any other definite refusal

export interface PlatformErrorFacts {
  readonly retryAfterMs?: number;
  /** What a rate limit covers. */
  readonly scope?: 'chat' | 'account';
  /** What was missing, for `not_found`. */
  readonly missing?: 'thread' | 'reply' | 'message' | 'file';
  /** The name of the file that cannot be sent, where it is known which. */
  readonly file?: string;
  /** The chat has moved: deliver there from now on. */
  readonly movedToChatId?: string;
  readonly cause?: unknown;
}

interface DeliveryRule {
  readonly retry: 'backoff' | 'after-delay' | 'once-marked' | 'plain' | 'never';
  /** The chat as a whole cannot be reached until something succeeds there. */
  readonly deadTarget: boolean;
}

const deliveryRules: Readonly<Record<PlatformErrorCode, DeliveryRule>> = {
  unavailable: { retry: 'backoff', deadTarget: false },
  unknown_outcome: { retry: 'once-marked', deadTarget: false },
  rate_limited: { retry: 'after-delay', deadTarget: false },
  bad_credential: { retry: 'backoff', deadTarget: false },
  conflict: { retry: 'backoff', deadTarget: false },
  forbidden: { retry: 'never', deadTarget: true },
  chat_gone: { retry: 'never', deadTarget: true },
  not_found: { retry: 'never', deadTarget: false },
  bad_format: { retry: 'plain', deadTarget: false },
  too_long: { retry: 'never', deadTarget: false },
  too_large: { retry: 'never', deadTarget: false },
  unsupported: { retry: 'never', deadTarget: false },
  aborted: { retry: 'backoff', deadTarget: false },
  rejected: { retry: 'never', deadTarget: false },
};

export class PlatformError extends Error {
  readonly code: PlatformErrorCode;
  readonly facts: PlatformErrorFacts;

  /** `message` must not contain a credential or a URL that carries one. */
  constructor(code: PlatformErrorCode, message: string, facts: PlatformErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'PlatformError';
    this.code = code;
    this.facts = facts;
  }

  get rule(): DeliveryRule {
    return deliveryRules[this.code];
  }
}

export type ModelErrorCode =
  | 'auth'
  | 'billing'
  | 'rate_limited'
  | 'overloaded'
  | 'server_error'
  | 'timeout'
  | 'unreachable'
  | 'cut_stream' // the stream ended in the middle
  | 'malformed' // not what the protocol says
  | 'context_overflow'
  | 'payload_too_large'
  | 'model_not_found'
  | 'content_blocked'
  | 'stale_reasoning' // reasoning that was sent back is not accepted (any more)
  | 'bad_request'
  | 'over_budget' // the agent may not spend more today
  | 'aborted';

interface ModelRule {
  /** The same call may succeed later. */
  readonly retry: boolean;
  /** Another key of the same endpoint may succeed now. */
  readonly rotateKey: boolean;
  /** A shorter conversation may succeed. */
  readonly compress: boolean;
  /** Another endpoint may succeed. */
  readonly fallBack: boolean;
  /** What the person in the chat reads. */
  readonly sentence: string;
}

const may = (flags: Partial<Omit<ModelRule, 'sentence'>>, sentence: string): ModelRule => ({ retry: false, rotateKey: false, compress: false, fallBack: false, ...flags, sentence });

const modelRules: Readonly<Record<ModelErrorCode, ModelRule>> = {
  auth: may({ rotateKey: true, fallBack: true }, 'The model refused our key. The owner has to check `model.api_key`.'),
  billing: may({ rotateKey: true, fallBack: true }, 'The model account has no credit left. The owner has to top it up.'),
  rate_limited: may({ retry: true, rotateKey: true, fallBack: true }, 'The model is limiting us right now. Please try again in a moment.'),
  overloaded: may({ retry: true, fallBack: true }, 'The model is overloaded right now. Please try again in a moment.'),
  server_error: may({ retry: true, fallBack: true }, 'The model had an internal error. Please try again.'),
  timeout: may({ retry: true, fallBack: true }, 'The model did not answer in time. Please try again.'),
  unreachable: may({ retry: true, fallBack: true }, 'The model cannot be reached. The owner has to check `model.base_url` and the network.'),
  cut_stream: may({ retry: true, fallBack: true }, 'The connection to the model broke in the middle of the answer. Please try again.'),
  malformed: may({ retry: true, fallBack: true }, 'The model answered with something that is not an answer. Please try again.'),
  context_overflow: may({ compress: true }, 'This conversation no longer fits into the model. Start a new one with /new.'),
  payload_too_large: may({ compress: true }, 'That was too large for the model. Please send less at once.'),
  model_not_found: may({ fallBack: true }, 'The configured model does not exist there. The owner has to check `model.default` and `model.base_url`.'),
  content_blocked: may({ fallBack: true }, 'The model provider refused to answer this.'),
  stale_reasoning: may({ fallBack: true }, 'The model did not accept its own earlier thoughts. Please try again.'),
  bad_request: may({ fallBack: true }, 'The model refused the request.'),
  over_budget: may({}, 'I have used up what I may spend today, so I had to stop here. I can go on after midnight.'),
  aborted: may({}, 'Stopped.'),
};

export interface ModelErrorFacts {
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** What the model can really read at once, where the refusal says so. */
  readonly windowTokens?: number;
  /** The endpoint has another key that is not resting: the same call uses it. */
  readonly freshKey?: boolean;
  readonly cause?: unknown;
}

export class ModelError extends Error {
  readonly code: ModelErrorCode;
  readonly facts: ModelErrorFacts;

  /** `message` must not contain a credential. */
  constructor(code: ModelErrorCode, message: string, facts: ModelErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'ModelError';
    this.code = code;
    this.facts = facts;
  }

  get status(): number | undefined {
    return this.facts.status;
  }

  get retryAfterMs(): number | undefined {
    return this.facts.retryAfterMs;
  }

  get rule(): ModelRule {
    return modelRules[this.code];
  }
}

/** A configuration, a home or an environment the process cannot work with; the CLI prints it and leaves with `exitCode`. */
export class ConfigError extends Error {
  /** 78: a service manager need not try again before somebody has mended something. */
  readonly exitCode: 1 | 78;

  constructor(message: string, options: ErrorOptions & { /** It may be gone a moment later by itself. */ readonly mayPass?: boolean } = {}) {
    super(message, options);
    this.name = 'ConfigError';
    this.exitCode = options.mayPass === true ? 1 : 78;
  }
}

export type StoreErrorCode =
  | 'full' // no space left
  | 'busy' // another process holds the database too long
  | 'corrupt'
  | 'newer' // written by a newer version
  | 'unwritable'
  | 'unavailable' // the server cannot be reached
  | 'lane_lost' // another owner has taken the conversation, or its move, over
  | 'failed';

export class StoreError extends Error {
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreError';
    this.code = code;
  }
}

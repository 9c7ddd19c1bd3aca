import type { ModelErrorCode } from '../../core/errors.ts';
import type { TurnEvent } from '../../core/turn.ts';
import { ApiError } from './api-error.ts';

type End = Extract<TurnEvent, { readonly type: 'end' }>;

const ofModel: ReadonlyMap<string, { readonly status: ApiError['status']; readonly code: string }> = new Map(Object.entries({
  rate_limited: { status: 429, code: 'rate_limit_exceeded' },
  over_budget: { status: 429, code: 'insufficient_quota' },
  billing: { status: 502, code: 'upstream_billing' },
  auth: { status: 502, code: 'upstream_auth' },
  model_not_found: { status: 502, code: 'upstream_model_not_found' },
  overloaded: { status: 503, code: 'upstream_overloaded' },
  timeout: { status: 504, code: 'upstream_timeout' },
  context_overflow: { status: 400, code: 'context_length_exceeded' },
  payload_too_large: { status: 400, code: 'context_length_exceeded' },
  content_blocked: { status: 400, code: 'content_policy_violation' },
} satisfies Partial<Record<ModelErrorCode, { status: ApiError['status']; code: string }>>));

/** What a turn that did not come to its end is to whoever asked; undefined for one that did. */
export const turnError = (end: End): ApiError | undefined => {
  const sentence = end.error?.sentence;
  switch (end.reason) {
    case 'completed':
    case 'silent':
    case 'limit':
      return undefined;
    case 'model_error': {
      const { status, code } = ofModel.get(end.error?.code ?? '') ?? { status: 502 as const, code: 'upstream_error' };
      return new ApiError(status, sentence ?? 'The model failed.', { code, ...(status === 429 && { retryAfterMs: 5_000 }) });
    }
    case 'deadline':
      return new ApiError(504, sentence ?? 'The answer took too long.', { code: 'deadline_exceeded' });
    case 'internal_error':
      return new ApiError(500, sentence ?? 'Something went wrong inside the gateway.', { code: 'internal_error' });
    case 'stopped':
    case 'interrupted':
    case 'suspended':
      return new ApiError(503, sentence ?? 'The answer was broken off.', { code: 'cancelled', retryAfterMs: 1000 });
    case 'set_aside':
      return new ApiError(500, sentence ?? 'Each try to answer this ended with a crash of the gateway, so it was set aside.', { code: 'set_aside' });
    case 'cut_off':
      return new ApiError(500, sentence ?? 'The gateway was away for too long to go on with this by itself. What was done so far is in the conversation; ask again to continue.', { code: 'cut_off' });
    default:
      throw end.reason satisfies never;
  }
};

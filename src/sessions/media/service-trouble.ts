import type { ModelErrorCode } from '../../core/errors.ts';

/** Why a service did not do its job, behind its name: `the transcription service did not answer in time`. */
export const serviceTrouble: Readonly<Record<ModelErrorCode, string>> = {
  auth: 'refused the key',
  billing: 'has no credit left',
  rate_limited: 'is limiting us right now',
  overloaded: 'is overloaded right now',
  server_error: 'had an internal error',
  timeout: 'did not answer in time',
  unreachable: 'cannot be reached',
  cut_stream: 'broke off in the middle of its answer',
  malformed: 'answered with something that is not an answer',
  context_overflow: 'found it too long',
  payload_too_large: 'found it too large',
  model_not_found: 'does not know the configured model',
  content_blocked: 'refused the content',
  stale_reasoning: 'refused it',
  bad_request: 'refused it',
  over_budget: 'costs more than may be spent today',
  aborted: 'was stopped',
};

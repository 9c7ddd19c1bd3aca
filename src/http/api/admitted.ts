import type { AdmittedCall, ArrivedCall } from '../../gateway/api/admit-call.ts';
import type { ApiGate } from '../../gateway/api/api-gate.ts';
import { ApiError } from './api-error.ts';

/** Who answers a call, and what of it; throws the refusal for one that a hook has stopped. */
export const admitted = async (gate: ApiGate, call: ArrivedCall): Promise<Extract<AdmittedCall, { type: 'admitted' }>> => {
  const found = await gate.admit(call);
  if (found.type === 'admitted') return found;
  throw new ApiError(403, found.answer ?? 'A hook of this gateway has refused the message.', { code: 'message_refused' });
};

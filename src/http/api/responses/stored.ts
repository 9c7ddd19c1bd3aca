import type { ApiGate, KeptRequest } from '../../../gateway/api/api-gate.ts';
import { eventsOfResult } from '../../../gateway/api/follow-call.ts';
import type { ApiCall, ApiCallResult } from '../../../store/api/api-calls.ts';
import { answerSteps, finalAnswer } from '../answer.ts';
import { ApiError } from '../api-error.ts';
import type { Caller } from '../callers.ts';
import { responseKind } from './ask.ts';
import type { ResponseWire } from './ask.ts';
import { responseResource, statusOf } from './resource.ts';
import type { ResponseState } from './resource.ts';

type StoredResponse = ApiCall<KeptRequest<ResponseWire>>;

export const findResponse = (gate: ApiGate, caller: Caller, id: string): Promise<StoredResponse | undefined> => gate.find<ResponseWire>({ id, keyId: caller.id, kind: responseKind });

/** Throws the refusal for one that this key does not have. */
export const storedResponse = async (gate: ApiGate, caller: Caller, id: string): Promise<StoredResponse> => {
  const found = await findResponse(gate, caller, id);
  if (found === undefined) throw new ApiError(404, `Response with id '${id.slice(0, 100)}' not found.`, { code: 'response_not_found' });
  return found;
};

async function* replayed(result: ApiCallResult) {
  yield* eventsOfResult(result);
}

/** What a response that has ended has said, all at once. */
export const storedSteps = (result: ApiCallResult, { request }: StoredResponse): ReturnType<typeof answerSteps> => answerSteps(replayed(result), (name) => request.wire.theirs.includes(name));

const stateOf = async (response: StoredResponse): Promise<ResponseState> => {
  const { result, request, endedAtMs } = response;
  if (result === undefined) return { status: request.wire.head.echo['background'] === true ? 'queued' : 'in_progress' };
  if (result.reason === 'stopped' || result.reason === 'interrupted') return { status: 'cancelled' };
  try {
    const answer = await finalAnswer(storedSteps(result, response));
    return { status: statusOf(answer), answer, completedAt: Math.floor((endedAtMs ?? 0) / 1000) };
  } catch (error) {
    if (error instanceof ApiError) return { status: 'failed', error };
    throw error;
  }
};

/** A response as it stands now. */
export const shownResponse = async (response: StoredResponse): Promise<ReturnType<typeof responseResource>> => responseResource(response.request.wire.head, await stateOf(response));

import type { Context } from 'hono';
import { z } from 'zod';
import type { HttpEnv } from '../../client.ts';
import { ApiError } from '../api-error.ts';
import type { Caller } from '../callers.ts';
import { eventStream } from '../event-stream.ts';
import type { AskedResponse, ResponsesDeps } from './ask.ts';
import { storedResponse, storedSteps } from './stored.ts';
import { responseEvents, withEnd } from './stream.ts';
import type { ResponseFrame } from './stream.ts';

/** What may stand behind `GET /v1/responses/{id}`. */
export const retrieveQuery = z.object({ stream: z.enum(['true', 'false']).default('false'), starting_after: z.coerce.number().int().min(-1).default(-1) });

interface TakenUp {
  readonly deps: ResponsesDeps;
  readonly caller: Caller;
  readonly id: string;
  /** Aborted when nobody reads any more. */
  readonly signal: AbortSignal;
  endedAtMs: number | null;
}

/** What a response has said, told when it has come to its end: whoever comes later than its first word has missed some. */
async function* stepsOf(taken: TakenUp): AskedResponse['steps'] {
  const gate = taken.deps.gate();
  for await (const event of gate.follow(taken.id, taken.signal)) if (event.type === 'end') break;
  const response = await storedResponse(gate, taken.caller, taken.id);
  if (response.result === undefined) return new ApiError(503, 'The gateway is stopping; the response is made after its next start.', { code: 'unavailable' });
  taken.endedAtMs = response.endedAtMs;
  return yield* storedSteps(response.result, response);
}

/** The events behind one; the last of all is never left out, whatever number the client has come to. */
async function* behind(frames: AsyncGenerator<ResponseFrame, void, undefined>, after: number): AsyncGenerator<ResponseFrame, void, undefined> {
  let skipped: ResponseFrame | undefined;
  for await (const frame of frames) {
    skipped = frame.data.sequence_number > after ? undefined : frame;
    if (skipped === undefined) yield frame;
  }
  if (skipped !== undefined) yield { ...skipped, data: { ...skipped.data, sequence_number: after + 1 } };
}

/** Streams a response that was asked for before, to whoever asks for it with `stream=true`. */
export const takeUp = async (deps: ResponsesDeps, c: Context<HttpEnv>, asked: { readonly caller: Caller; readonly id: string; readonly after: number }): Promise<Response> => {
  const { caller, id, after } = asked;
  const { request } = await storedResponse(deps.gate(), caller, id);
  const gone = new AbortController();
  const taken: TakenUp = { deps, caller, id, signal: gone.signal, endedAtMs: null };
  const events = responseEvents(request.wire.head, stepsOf(taken), () => Math.floor((taken.endedAtMs ?? deps.clock.now()) / 1000));
  return eventStream(c, withEnd(behind(events, after)), { clock: deps.clock, keep: false, onGone: () => gone.abort() });
};

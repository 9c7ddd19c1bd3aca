import { randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import type { CallWishes } from '../../../gateway/api/api-gate.ts';
import { runKind } from '../../../gateway/api/api-runs.ts';
import { newRunId } from '../../../gateway/api/call-of.ts';
import type { CallSession } from '../../../gateway/api/submit-call.ts';
import type { HttpEnv } from '../../client.ts';
import { admitted } from '../admitted.ts';
import { ApiError } from '../api-error.ts';
import type { Caller } from '../callers.ts';
import { jobOf } from '../metered.ts';
import { agentOfModel } from '../models.ts';
import { isUsableSessionId, placeOf, sessionHeaders } from '../place-of.ts';
import { readBody } from '../read-body.ts';
import { TakenMeanwhile } from '../replays.ts';
import type { NamedCall } from '../replays.ts';
import { responseKind } from '../responses/ask.ts';
import type { ResponsesDeps } from '../responses/ask.ts';
import { instructionsOf, rowsOf } from '../responses/input.ts';
import { splitInput } from '../split-input.ts';
import { sessionOf } from '../submitted.ts';
import type { Job } from '../work.ts';
import { runRequest } from './request.ts';
import type { RunRequest } from './request.ts';
import type { RunWire } from './wire.ts';

/** A run as its submission is answered, and answered again. */
interface Started {
  readonly run_id: string;
  readonly status: 'started';
  readonly session_id: string;
}

const sessionFor = (c: Context<HttpEnv>, { session_id: id, previous_response_id: previous, conversation_history: history }: RunRequest): CallSession => {
  const named = typeof id === 'string' ? ({ type: 'id', id } as const) : sessionHeaders(c);
  if (named?.type === 'id' && !isUsableSessionId(named.id)) throw new ApiError(400, 'session_id is not the id of a session.', { code: 'invalid_session_id', param: 'session_id' });
  const hasHistory = Array.isArray(history) && history.length > 0;
  if (named !== undefined && (hasHistory || typeof previous === 'string')) throw new ApiError(400, 'A session has its own history: leave conversation_history and previous_response_id out.', { code: 'invalid_value', param: hasHistory ? 'conversation_history' : 'previous_response_id' });
  if (named !== undefined) return named;
  // What the client says about the past goes first.
  return typeof previous === 'string' && !hasHistory ? { type: 'after', callId: previous, kind: responseKind } : { type: 'new' };
};

const inputOf = ({ input, conversation_history: history }: RunRequest): RunRequest['input'] => {
  if (history === undefined || history === null || history.length === 0) return input;
  const now = typeof input === 'string' ? [{ type: 'message' as const, role: 'user' as const, content: input }] : input;
  return [...history, ...now];
};

const start = async (deps: ResponsesDeps, c: Context<HttpEnv>, asked: { readonly caller: Caller; readonly request: RunRequest; readonly job: Job; readonly named: NamedCall | undefined }): Promise<Started> => {
  const { caller, request, job, named } = asked;
  const gate = deps.gate();
  const id = newRunId(randomBytes(16).toString('hex'));
  const model = request.model ?? 'hermes';
  const said = { input: inputOf(request), instructions: request.instructions };
  const session = sessionFor(c, request);
  const place = placeOf(c, caller.id, id);
  const { agent, rows, decisions } = await admitted(gate, { id, place, agent: agentOfModel(model, gate), rows: await rowsOf(said, { gate, sessionId: id, signal: job.signal }) });
  const instructions = instructionsOf(said);
  const wishes: CallWishes = instructions === '' ? {} : { instructions };
  const wire: RunWire = { model, admin: caller.scopes.includes('admin') };
  const startedAs = (sessionId: string): Started => ({ run_id: id, status: 'started', session_id: sessionId });
  const submitted = await gate.submit({
    id,
    kind: runKind,
    callerId: caller.id,
    agent,
    place,
    session,
    decisions,
    ...splitInput(rows),
    request: { wishes, wire },
    hidden: false,
    ...(named !== undefined && { within: (tx, sessionId) => named.keepIn(tx, JSON.stringify(startedAs(sessionId))) }),
  });
  const sessionId = sessionOf(submitted);
  follow(deps, jobOf(submitted.events, job), id);
  return startedAs(sessionId);
};

/** Nobody waits for it here; it counts as one of its key's answers until it has ended. */
const follow = (deps: ResponsesDeps, events: AsyncIterable<unknown>, id: string): void => {
  const end = async (): Promise<void> => {
    for await (const _event of events) continue;
  };
  end().catch((error: unknown) => deps.log.error({ err: error, run: id }, 'api.run_not_followed'));
};

const replayed = (c: Context<HttpEnv>, earlier: string): Response => {
  c.header('idempotency-replayed', 'true');
  return c.json(JSON.parse(earlier) as Started, 202);
};

/** `POST /v1/runs`: has a run begun that goes on by itself. */
export const submitRun = async (deps: ResponsesDeps, c: Context<HttpEnv>, caller: Caller): Promise<Response> => {
  const request = await readBody(c, runRequest, deps.options.max_body_mb * 1024 * 1024);
  const named = await deps.replays.take(c, caller, ['run', request, sessionHeaders(c)]);
  if (named?.earlier !== undefined) return replayed(c, named.earlier);
  let job: Job | undefined;
  try {
    job = await deps.work.begin(c, caller);
    const started = await start(deps, c, { caller, request, job, named });
    c.header('x-hermes-session-id', started.session_id);
    return c.json(started, 202);
  } catch (error) {
    job?.[Symbol.dispose]();
    if (error instanceof TakenMeanwhile) return replayed(c, error.earlier);
    throw error;
  } finally {
    await named?.settle(undefined);
  }
};

import type { Context } from 'hono';
import { z } from 'zod';
import type { FoundRun } from '../../../gateway/api/api-runs.ts';
import type { HttpEnv } from '../../client.ts';
import { ApiError } from '../api-error.ts';
import type { Caller } from '../callers.ts';
import { eventStream } from '../event-stream.ts';
import type { Frame } from '../event-stream.ts';
import { checked, readBody } from '../read-body.ts';
import type { ResponsesDeps } from '../responses/ask.ts';
import type { ApiRoute } from '../route.ts';
import { approvalRequest, steerRequest } from './request.ts';
import { submitRun } from './submit.ts';
import { runEvent, runResource } from './wire.ts';
import type { RunWire } from './wire.ts';

const smallBytes = 256 * 1024;

/** Throws the refusal for a run that this key does not have. */
const findRun = async (deps: ResponsesDeps, caller: Caller, id: string): Promise<FoundRun<RunWire>> => {
  const found = await deps.gate().runs.find<RunWire>({ id, keyId: caller.id });
  if (found === undefined) throw new ApiError(404, `There is no run '${id.slice(0, 100)}'.`, { code: 'run_not_found' });
  return found;
};

const idOf = (c: Context<HttpEnv>): string => c.req.param('id') ?? '';

/** What may stand behind `GET /v1/runs/{id}/events`, for readers that cannot set headers. */
export const runEventsQuery = z.object({ after: z.string().optional() });

/** The event behind which a reader goes on; the beginning for one that names none. */
const afterOf = (c: Context<HttpEnv>): number => {
  const written = c.req.header('last-event-id')?.trim() || (checked(runEventsQuery, c.req.query()).after ?? '0');
  const seq = /^\d{1,15}$/.test(written) ? Number(written) : Number.NaN;
  if (Number.isNaN(seq)) throw new ApiError(400, 'Last-Event-ID takes the id of an event of this run.', { code: 'invalid_header', param: 'Last-Event-ID' });
  return seq;
};

async function* framesOf(deps: ResponsesDeps, { call }: FoundRun<RunWire>, reader: { readonly caller: Caller; readonly afterSeq: number; readonly signal: AbortSignal }): AsyncGenerator<Frame, void, undefined> {
  const { runs } = deps.gate();
  const { caller, afterSeq, signal } = reader;
  const result = async () => (await runs.find<RunWire>({ id: call.id, keyId: caller.id }))?.call.result;
  for await (const stored of runs.follow(call.id, afterSeq, signal)) {
    const data = await runEvent(stored, { id: call.id, wire: call.request.wire, result });
    if (data !== undefined) yield { id: stored.seq, data };
  }
  yield { comment: 'stream closed' };
}

const answerApproval = async (deps: ResponsesDeps, c: Context<HttpEnv>, caller: Caller): Promise<Response> => {
  const { call } = await findRun(deps, caller, idOf(c));
  const { choice, all, resolve_all, approval_id } = await readBody(c, approvalRequest, smallBytes);
  const answered = await deps.gate().runs.answer({ runId: call.id, callerId: caller.id, choice, all: all === true || resolve_all === true, code: approval_id ?? undefined, mayAlways: caller.scopes.includes('admin') });
  if (answered.type === 'answered') return c.json({ object: 'hermes.run.approval_response', run_id: call.id, choice: answered.choice, resolved: answered.resolved });
  switch (answered.why) {
    case 'not_active':
      throw new ApiError(409, 'This run does not run, so it waits for nobody.', { code: 'approval_not_active' });
    case 'not_pending':
      throw new ApiError(409, 'This run waits for no such answer.', { code: 'approval_not_pending' });
    case 'invalid_choice':
      throw new ApiError(400, 'This is none of the choices that the run has offered.', { code: 'invalid_approval_choice', param: 'choice' });
    default:
      throw answered.why satisfies never;
  }
};

const steer = async (deps: ResponsesDeps, c: Context<HttpEnv>, caller: Caller): Promise<Response> => {
  const { call } = await findRun(deps, caller, idOf(c));
  const { input } = await readBody(c, steerRequest, smallBytes);
  const steered = await deps.gate().runs.steer(call, input.toWellFormed());
  switch (steered) {
    case 'accepted':
      return c.json({ object: 'hermes.run.steer', run_id: call.id, status: 'accepted' }, 202);
    case 'not_running':
      throw new ApiError(409, 'This run does not run now, so nothing can be said to it.', { code: 'run_not_running' });
    case 'queue_full':
      throw new ApiError(429, 'Too much that was said to this run is waiting.', { code: 'rate_limit_exceeded', retryAfterMs: 5_000 });
    default:
      throw steered satisfies never;
  }
};

/** `/v1/runs`: answers that are made without anybody waiting, and can be watched, steered, approved and stopped meanwhile. */
export const runRoutes = (deps: ResponsesDeps): readonly ApiRoute[] => [
  { name: 'runs', method: 'POST', path: '/v1/runs', scope: 'chat', handle: (c, caller) => submitRun(deps, c, caller) },
  { name: 'run', method: 'GET', path: '/v1/runs/:id', scope: 'chat', handle: async (c, caller) => c.json(await runResource(await findRun(deps, caller, idOf(c)))) },
  {
    name: 'run_events',
    method: 'GET',
    path: '/v1/runs/:id/events',
    scope: 'chat',
    async handle(c, caller) {
      const run = await findRun(deps, caller, idOf(c));
      const gone = new AbortController();
      return eventStream(c, framesOf(deps, run, { caller, afterSeq: afterOf(c), signal: gone.signal }), { clock: deps.clock, keep: false, onGone: () => gone.abort() });
    },
  },
  {
    name: 'run_stop',
    method: 'POST',
    path: '/v1/runs/:id/stop',
    scope: 'chat',
    async handle(c, caller) {
      const { call } = await findRun(deps, caller, idOf(c));
      await deps.gate().cancel(call.id);
      const { status } = await runResource(await findRun(deps, caller, call.id));
      return c.json({ run_id: call.id, status });
    },
  },
  { name: 'run_approval', method: 'POST', path: '/v1/runs/:id/approval', scope: 'chat', handle: (c, caller) => answerApproval(deps, c, caller) },
  { name: 'run_steer', method: 'POST', path: '/v1/runs/:id/steer', scope: 'chat', handle: (c, caller) => steer(deps, c, caller) },
];

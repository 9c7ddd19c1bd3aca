import type { Context } from 'hono';
import { z } from 'zod';
import type { HttpEnv } from '../../client.ts';
import { finalAnswer, replayedSteps } from '../answer.ts';
import type { TurnAnswer } from '../answer.ts';
import { ApiError } from '../api-error.ts';
import type { Caller } from '../callers.ts';
import { eventStream } from '../event-stream.ts';
import { peek } from '../peek.ts';
import { checked, readBody } from '../read-body.ts';
import { TakenMeanwhile } from '../replays.ts';
import type { NamedCall } from '../replays.ts';
import type { ApiRoute } from '../route.ts';
import { askForResponse } from './ask.ts';
import type { AskedResponse, KeepResponse, ResponsesDeps } from './ask.ts';
import type { Json } from './input.ts';
import { withReferences } from './references.ts';
import { responseRequest } from './request.ts';
import type { ResponseRequest } from './request.ts';
import { responseResource, statusOf } from './resource.ts';
import type { ResponseHead } from './resource.ts';
import { shownResponse, storedResponse } from './stored.ts';
import { responseEvents, withEnd } from './stream.ts';
import { retrieveQuery, takeUp } from './take-up.ts';

/** A response that was made before, as it is kept for repeats: whole, or by its id when it was to go on without its client. */
interface KeptResponse {
  readonly head: ResponseHead;
  readonly answer?: TurnAnswer;
}

type Steps = AskedResponse['steps'];

/** The answer is kept before whoever waits for it is told. */
async function* keeping(steps: Steps, kept: { readonly head: ResponseHead; readonly named: NamedCall }): Steps {
  let answer: TurnAnswer | undefined;
  try {
    const ended = yield* steps;
    if (!(ended instanceof ApiError)) answer = ended;
    return ended;
  } finally {
    await kept.named.settle(answer === undefined ? undefined : JSON.stringify({ head: kept.head, answer } satisfies KeptResponse));
  }
}

const nowSeconds = ({ clock }: ResponsesDeps): number => Math.floor(clock.now() / 1000);

const streamed = async (deps: ResponsesDeps, c: Context<HttpEnv>, request: ResponseRequest, asked: AskedResponse): Promise<Response> => {
  const { first, all } = await peek(asked.steps, deps.clock);
  if (first?.done === true && first.value instanceof ApiError) throw first.value;
  return eventStream(c, withEnd(responseEvents(asked.head, all, () => nowSeconds(deps))), { clock: deps.clock, keep: request.background === true || deps.options.on_disconnect === 'keep' });
};

const whole = async (deps: ResponsesDeps, { head, steps }: AskedResponse): Promise<Json> => {
  const answer = await finalAnswer(steps);
  return responseResource(head, { status: statusOf(answer), answer, completedAt: nowSeconds(deps) });
};

/** The client does not wait; its turn is followed all the same, for what it costs. */
const inBackground = (deps: ResponsesDeps, { head, steps }: AskedResponse): Json => {
  finalAnswer(steps).catch((error: unknown) => {
    if (!(error instanceof ApiError)) deps.log.error({ err: error, response: head.id }, 'api.background_failed');
  });
  return responseResource(head, { status: 'queued' });
};

const respond = (deps: ResponsesDeps, c: Context<HttpEnv>, request: ResponseRequest, asked: AskedResponse): Promise<Response> | Response => {
  if (request.stream === true) return streamed(deps, c, request, asked);
  if (request.background === true) return c.json(inBackground(deps, asked));
  return whole(deps, asked).then((body) => c.json(body));
};

const replay = async (deps: ResponsesDeps, c: Context<HttpEnv>, asked: { readonly caller: Caller; readonly request: ResponseRequest; readonly earlier: string }): Promise<Response> => {
  const { head, answer } = JSON.parse(asked.earlier) as KeptResponse;
  c.header('idempotency-replayed', 'true');
  if (answer === undefined) return c.json(await shownResponse(await storedResponse(deps.gate(), asked.caller, head.id)));
  return respond(deps, c, { ...asked.request, background: false }, { head, steps: replayedSteps(answer) });
};

const createResponse = async (deps: ResponsesDeps, c: Context<HttpEnv>, caller: Caller): Promise<Response> => {
  const bare = await readBody(c, responseRequest, deps.options.max_body_mb * 1024 * 1024);
  const request = await withReferences(bare, { gate: deps.gate(), caller });
  const { stream: _stream, stream_options: _options, ...what } = request;
  const named = await deps.replays.take(c, caller, what);
  if (named?.earlier !== undefined) return replay(deps, c, { caller, request, earlier: named.earlier });
  try {
    // One that goes on without its client is kept with its call: there is no moment at which only one of them is there.
    const keep: KeepResponse | undefined = named === undefined || request.background !== true ? undefined : (tx, head) => named.keepIn(tx, JSON.stringify({ head } satisfies KeptResponse));
    const asked = await askForResponse(deps, c, { caller, request, keep });
    if (request.background !== true) return await respond(deps, c, request, { ...asked, steps: named === undefined ? asked.steps : keeping(asked.steps, { head: asked.head, named }) });
    await named?.settle(undefined);
    return await respond(deps, c, request, asked);
  } catch (error) {
    await named?.settle(undefined);
    if (error instanceof TakenMeanwhile) return replay(deps, c, { caller, request, earlier: error.earlier });
    throw error;
  }
};

/** What may stand behind `GET /v1/responses/{id}/input_items`. */
export const inputItemsQuery = z.object({ limit: z.coerce.number().int().min(1).max(100).default(20), order: z.enum(['asc', 'desc']).default('desc'), after: z.string().optional() });

const pageOf = (items: readonly Json[], query: z.output<typeof inputItemsQuery>): Json => {
  const ordered = query.order === 'asc' ? items : items.toReversed();
  const begin = query.after === undefined ? 0 : ordered.findIndex((item) => item['id'] === query.after) + 1;
  const data = ordered.slice(begin, begin + query.limit);
  return { object: 'list', data, first_id: data[0]?.['id'] ?? '', last_id: data.at(-1)?.['id'] ?? '', has_more: begin + data.length < ordered.length };
};

const idOf = (c: Context<HttpEnv>): string => c.req.param('id') ?? '';

const retrieve = async (deps: ResponsesDeps, c: Context<HttpEnv>, caller: Caller): Promise<Response> => {
  const { stream, starting_after: after } = checked(retrieveQuery, c.req.query());
  if (stream === 'true') return takeUp(deps, c, { caller, id: idOf(c), after });
  return c.json(await shownResponse(await storedResponse(deps.gate(), caller, idOf(c))));
};

/** `POST /v1/responses` and what belongs to it: responses are turns of conversations that are kept, and can be looked up and continued later. */
export const responseRoutes = (deps: ResponsesDeps): readonly ApiRoute[] => [
  { name: 'responses', method: 'POST', path: '/v1/responses', scope: 'chat', handle: (c, caller) => createResponse(deps, c, caller) },
  { name: 'response', method: 'GET', path: '/v1/responses/:id', scope: 'chat', handle: (c, caller) => retrieve(deps, c, caller) },
  {
    name: 'response_delete',
    method: 'DELETE',
    path: '/v1/responses/:id',
    scope: 'chat',
    async handle(c, caller) {
      const { id } = await storedResponse(deps.gate(), caller, idOf(c));
      await deps.gate().forget(id);
      return c.json({ id, object: 'response', deleted: true });
    },
  },
  {
    name: 'response_cancel',
    method: 'POST',
    path: '/v1/responses/:id/cancel',
    scope: 'chat',
    async handle(c, caller) {
      const { id } = await storedResponse(deps.gate(), caller, idOf(c));
      const ended = deps.gate().follow(id);
      await deps.gate().cancel(id);
      for await (const event of ended) if (event.type === 'end') break;
      return c.json(await shownResponse(await storedResponse(deps.gate(), caller, id)));
    },
  },
  {
    name: 'response_input_items',
    method: 'GET',
    path: '/v1/responses/:id/input_items',
    scope: 'chat',
    async handle(c, caller) {
      const { request } = await storedResponse(deps.gate(), caller, idOf(c));
      return c.json(pageOf(request.wire.head.input, checked(inputItemsQuery, c.req.query())));
    },
  },
];

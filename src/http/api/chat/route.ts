import { randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import type { TurnEvent } from '../../../core/turn.ts';
import type { ApiGate, CallWishes, WholeQuestion } from '../../../gateway/api/api-gate.ts';
import type { CallSession } from '../../../gateway/api/submit-call.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { HttpEnv } from '../../client.ts';
import { admitted } from '../admitted.ts';
import { ApiError } from '../api-error.ts';
import type { Caller } from '../callers.ts';
import { eventStream } from '../event-stream.ts';
import { jobOf, metered } from '../metered.ts';
import { agentOfModel } from '../models.ts';
import type { ApiOptions } from '../options.ts';
import { peek } from '../peek.ts';
import { placeOf, sessionHeaders } from '../place-of.ts';
import { readBody } from '../read-body.ts';
import type { NamedCall, Replays } from '../replays.ts';
import type { ApiRoute } from '../route.ts';
import { splitInput } from '../split-input.ts';
import { cancelledBy, sessionOf } from '../submitted.ts';
import { clientTools } from '../tools.ts';
import type { Job, Work } from '../work.ts';
import { answerSteps, finalAnswer, replayedSteps } from '../answer.ts';
import type { TurnAnswer, AnswerStep } from '../answer.ts';
import { conversationId, instructionsOf, transcriptOf } from './conversation.ts';
import { chatRequest } from './request.ts';
import type { ChatRequest } from './request.ts';
import { isSideCall } from './side-call.ts';
import { chunks, completion } from './wire.ts';
import type { ChatHead } from './wire.ts';

export interface ChatDeps {
  readonly options: ApiOptions;
  readonly clock: Clock;
  readonly log: Logger;
  readonly work: Work;
  readonly replays: Replays;
  gate(): ApiGate;
}

type Steps = AsyncGenerator<AnswerStep, TurnAnswer | ApiError, undefined>;

/** An answer that was given before, as it is kept. */
interface KeptAnswer {
  readonly head: ChatHead;
  readonly answer: TurnAnswer;
}

const questionOf = async (deps: ChatDeps, request: ChatRequest, asked: { readonly c: Context<HttpEnv>; readonly caller: Caller; readonly turnId: string; readonly signal: AbortSignal }): Promise<WholeQuestion> => {
  const { c, caller, turnId, signal } = asked;
  const gate = deps.gate();
  const named = agentOfModel(request.model, gate);
  const sessionId = conversationId(request, caller.id);
  const place = placeOf(c, caller.id, sessionId);
  const tools = clientTools((request.tools ?? []).map((tool) => tool.function), request.tool_choice ?? undefined);
  const { agent, rows } = await admitted(gate, { id: turnId, place, agent: named, rows: await transcriptOf(request, { gate, sessionId, signal }) });
  return {
    agent,
    callerId: caller.id,
    place,
    sessionId,
    turnId,
    instructions: instructionsOf(request),
    transcript: rows,
    ...tools,
    ...(request.reasoning_effort !== undefined && request.reasoning_effort !== null && { reasoningEffort: request.reasoning_effort }),
  };
};

/** The answer is kept before whoever waits for it is told. */
async function* keeping(steps: Steps, kept: { readonly head: ChatHead; readonly named: NamedCall }): Steps {
  let answer: TurnAnswer | undefined;
  try {
    const ended = yield* steps;
    if (!(ended instanceof ApiError)) answer = ended;
    return ended;
  } finally {
    await kept.named.settle(answer === undefined ? undefined : JSON.stringify({ head: kept.head, answer } satisfies KeptAnswer));
  }
}

const respond = async (deps: ChatDeps, c: Context<HttpEnv>, request: ChatRequest, said: { readonly head: ChatHead; readonly steps: Steps }): Promise<Response> => {
  if (request.stream !== true) return c.json(completion(said.head, await finalAnswer(said.steps)));
  const { first, all } = await peek(said.steps, deps.clock);
  if (first?.done === true && first.value instanceof ApiError) throw first.value;
  const wishes = { usage: request.stream_options?.include_usage === true, progress: request.stream_options?.include_tool_progress === true };
  return eventStream(c, chunks(said.head, all, wishes), { clock: deps.clock, keep: deps.options.on_disconnect === 'keep' });
};

/** As a turn of a conversation that is kept here: of what the client sends only what is said now counts, unless the conversation is new. */
const inSession = async (deps: ChatDeps, c: Context<HttpEnv>, asked: { readonly question: WholeQuestion; readonly session: CallSession; readonly signal: AbortSignal }): Promise<AsyncGenerator<TurnEvent, void, undefined>> => {
  const { agent, callerId, place, turnId: id, transcript, instructions, clientTools: tools, toolChoice, reasoningEffort } = asked.question;
  const gate = deps.gate();
  const wishes: CallWishes = { ...(instructions !== undefined && { instructions }), ...(tools !== undefined && { clientTools: tools }), ...(toolChoice !== undefined && { toolChoice }), ...(reasoningEffort !== undefined && { reasoningEffort }) };
  const submitted = await gate.submit({ id, kind: 'chat', callerId, agent, place, session: asked.session, ...splitInput(transcript), request: { wishes, wire: null }, hidden: true });
  c.header('x-hermes-session-id', sessionOf(submitted));
  return cancelledBy(submitted.events, { id, gate, log: deps.log, signal: asked.signal });
};

const begin = async (deps: ChatDeps, c: Context<HttpEnv>, asked: { readonly caller: Caller; readonly request: ChatRequest; readonly id: string }): Promise<Steps> => {
  let job: Job | undefined;
  try {
    job = await deps.work.begin(c, asked.caller);
    const { signal } = job;
    const named = sessionHeaders(c);
    const session = named !== undefined && isSideCall(asked.request) ? undefined : named;
    const question = await questionOf(deps, asked.request, { c, caller: asked.caller, turnId: asked.id, signal });
    const theirs = new Set(question.clientTools?.map(({ name }) => name));
    const events = session === undefined ? metered(deps.gate().ask(question, signal), job) : jobOf(await inSession(deps, c, { question, session, signal }), job);
    return answerSteps(events, (name) => theirs.has(name));
  } catch (error) {
    job?.[Symbol.dispose]();
    throw error;
  }
};

/** `POST /v1/chat/completions`: the conversation is the client's and nothing of it is kept here, unless the call names one of ours. */
export const chatRoute = (deps: ChatDeps): ApiRoute => ({
  name: 'chat_completions',
  method: 'POST',
  path: '/v1/chat/completions',
  scope: 'chat',
  async handle(c, caller) {
    const request = await readBody(c, chatRequest, deps.options.max_body_mb * 1024 * 1024);
    const { stream: _stream, stream_options: _options, ...asked } = request;
    const named = await deps.replays.take(c, caller, [asked, sessionHeaders(c)]);
    if (named?.earlier !== undefined) {
      const { head, answer } = JSON.parse(named.earlier) as KeptAnswer;
      c.header('idempotency-replayed', 'true');
      return respond(deps, c, request, { head, steps: replayedSteps(answer) });
    }
    const head: ChatHead = { id: `chatcmpl-${randomBytes(14).toString('hex')}`, created: Math.floor(deps.clock.now() / 1000), model: request.model };
    try {
      const steps = await begin(deps, c, { caller, request, id: head.id });
      return await respond(deps, c, request, { head, steps: named === undefined ? steps : keeping(steps, { head, named }) });
    } catch (error) {
      await named?.settle(undefined);
      throw error;
    }
  },
});

import { randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import type { TurnEvent } from '../../../core/turn.ts';
import type { ApiGate, CallWishes } from '../../../gateway/api/api-gate.ts';
import type { CallSession } from '../../../gateway/api/submit-call.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { Writing } from '../../../store/store.ts';
import type { HttpEnv } from '../../client.ts';
import { answerSteps } from '../answer.ts';
import type { AnswerStep, TurnAnswer } from '../answer.ts';
import { admitted } from '../admitted.ts';
import { ApiError } from '../api-error.ts';
import type { Caller } from '../callers.ts';
import { jobOf, metered } from '../metered.ts';
import { agentOfModel } from '../models.ts';
import type { ApiOptions } from '../options.ts';
import { placeOf, sessionHeaders } from '../place-of.ts';
import type { Replays } from '../replays.ts';
import { splitInput } from '../split-input.ts';
import { cancelledBy, sessionOf } from '../submitted.ts';
import { clientTools } from '../tools.ts';
import type { Choice } from '../tools.ts';
import type { Job, Work } from '../work.ts';
import { instructionsOf, rowsOf } from './input.ts';
import { functionsOf } from './namespaces.ts';
import type { ResponseRequest } from './request.ts';
import { headOf } from './resource.ts';
import type { ResponseHead } from './resource.ts';

export interface ResponsesDeps {
  readonly options: ApiOptions;
  readonly clock: Clock;
  readonly log: Logger;
  readonly work: Work;
  readonly replays: Replays;
  gate(): ApiGate;
}

export const responseKind = 'response';

/** What is kept of a response's request. */
export interface ResponseWire {
  readonly head: ResponseHead;
  readonly theirs: readonly string[];
}

export interface AskedResponse {
  readonly head: ResponseHead;
  readonly steps: AsyncGenerator<AnswerStep, TurnAnswer | ApiError, undefined>;
}

/** Writes down, together with the call, what a repeat of it is answered with. */
export type KeepResponse = (tx: Writing, head: ResponseHead) => Promise<void>;

const sessionFor = (c: Context<HttpEnv>, request: ResponseRequest): CallSession => {
  const { previous_response_id: previous, conversation } = request;
  if (typeof previous === 'string' && typeof conversation === 'string') throw new ApiError(400, 'previous_response_id and conversation cannot be used together.', { code: 'invalid_value', param: 'conversation' });
  if (typeof previous === 'string') return { type: 'after', callId: previous, kind: responseKind };
  if (typeof conversation === 'string') return { type: 'named', name: `conversation:${conversation}` };
  return sessionHeaders(c) ?? { type: 'new' };
};

/** The functions that may be called, and which of them has to be. */
const toolsOf = (request: ResponseRequest): Pick<CallWishes, 'clientTools' | 'toolChoice'> => {
  const functions = functionsOf(request);
  const choice = request.tool_choice ?? 'auto';
  if (typeof choice === 'string') return clientTools(functions, choice);
  if (choice.type === 'function') return clientTools(functions, { name: choice.name });
  const allowed = new Set(choice.tools.map(({ name }) => name));
  return clientTools(functions.filter(({ name }) => allowed.has(name)), choice.mode satisfies Choice);
};

const wishesOf = (request: ResponseRequest): CallWishes => {
  const effort = request.reasoning?.effort;
  const instructions = instructionsOf(request);
  return { ...toolsOf(request), ...(instructions !== '' && { instructions }), ...(effort !== undefined && effort !== null && { reasoningEffort: effort }) };
};

const eventsOf = async (deps: ResponsesDeps, c: Context<HttpEnv>, asked: { readonly caller: Caller; readonly request: ResponseRequest; readonly head: ResponseHead; readonly wishes: CallWishes; readonly job: Job; readonly keep: KeepResponse | undefined }): Promise<AsyncGenerator<TurnEvent, void, undefined>> => {
  const { caller, request, head, wishes, job, keep } = asked;
  const { signal } = job;
  const { id } = head;
  const gate = deps.gate();
  const session = sessionFor(c, request);
  const place = placeOf(c, caller.id, id);
  const named = agentOfModel(head.model, gate);
  const { agent, rows, decisions } = await admitted(gate, { id, place, agent: named, rows: await rowsOf(request, { gate, sessionId: id, signal }) });
  // Nothing is to be kept and nothing is continued: the conversation is the client's.
  if (request.store === false && session.type === 'new') return metered(gate.ask({ ...wishes, agent, callerId: caller.id, place, sessionId: id, turnId: id, transcript: rows }, signal), job);
  const wire: ResponseWire = { head, theirs: (wishes.clientTools ?? []).map(({ name }) => name) };
  const submitted = await gate.submit({ id, kind: responseKind, callerId: caller.id, agent, place, session, decisions, ...splitInput(rows), request: { wishes, wire }, hidden: request.store === false, ...(keep !== undefined && { within: (tx) => keep(tx, head) }) });
  c.header('x-hermes-session-id', sessionOf(submitted));
  // What runs in the background goes on without whoever has asked for it.
  return jobOf(request.background === true ? submitted.events : cancelledBy(submitted.events, { id, gate, log: deps.log, signal }), job);
};

/** Has a response made. */
export const askForResponse = async (deps: ResponsesDeps, c: Context<HttpEnv>, asked: { readonly caller: Caller; readonly request: ResponseRequest; readonly keep?: KeepResponse | undefined }): Promise<AskedResponse> => {
  const { caller, request, keep } = asked;
  if (request.background === true && request.store === false) throw new ApiError(400, 'A background response has to be stored.', { code: 'invalid_value', param: 'background' });
  const head = headOf(request, { id: `resp_${randomBytes(14).toString('hex')}`, createdAt: Math.floor(deps.clock.now() / 1000), model: request.model ?? 'hermes' });
  const wishes = wishesOf(request);
  let job: Job | undefined;
  try {
    job = await deps.work.begin(c, caller);
    const events = await eventsOf(deps, c, { caller, request, head, wishes, job, keep });
    const theirs = new Set((wishes.clientTools ?? []).map(({ name }) => name));
    return { head, steps: answerSteps(events, (name) => theirs.has(name)) };
  } catch (error) {
    job?.[Symbol.dispose]();
    throw error;
  }
};

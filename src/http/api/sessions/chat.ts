import { randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { z } from 'zod';
import type { HttpEnv } from '../../client.ts';
import { admitted } from '../admitted.ts';
import { answerSteps, endSteps, finalAnswer } from '../answer.ts';
import type { AnswerStep, TurnAnswer } from '../answer.ts';
import { ApiError } from '../api-error.ts';
import type { Caller } from '../callers.ts';
import { content } from '../content.ts';
import { eventStream } from '../event-stream.ts';
import type { Frame } from '../event-stream.ts';
import { jobOf } from '../metered.ts';
import { peek } from '../peek.ts';
import { placeOf } from '../place-of.ts';
import { readBody } from '../read-body.ts';
import type { ResponsesDeps } from '../responses/ask.ts';
import { rowsOf } from '../responses/input.ts';
import { splitInput } from '../split-input.ts';
import { cancelledBy, sessionOf } from '../submitted.ts';
import type { Job } from '../work.ts';
import { wireUsage } from './wire.ts';

/** The body of `POST /api/sessions/{id}/chat`, streamed or not. */
export const sessionChatRequest = z.looseObject({ message: content.nullish(), input: content.nullish(), system_message: z.string().nullish(), instructions: z.string().nullish() });

type SessionChatRequest = z.output<typeof sessionChatRequest>;

type Steps = AsyncGenerator<AnswerStep, TurnAnswer | ApiError, undefined>;

interface Asked {
  readonly id: string;
  readonly sessionId: string;
  readonly said: string;
  readonly steps: Steps;
}

const wordsOf = ({ message, input }: SessionChatRequest): NonNullable<SessionChatRequest['message']> => {
  const said = message ?? input;
  if (said === undefined || said === null || (typeof said === 'string' ? said.trim() === '' : said.length === 0)) throw new ApiError(400, 'Say something: message is empty.', { code: 'missing_message', param: 'message' });
  return said;
};

interface Heard {
  readonly caller: Caller;
  readonly sessionId: string;
  readonly agent: string;
  readonly request: SessionChatRequest;
}

/** What is said, and where; throws the refusal for a session that the key does not have. */
const hear = async (deps: ResponsesDeps, c: Context<HttpEnv>, caller: Caller): Promise<Heard> => {
  const sessionId = c.req.param('id') ?? '';
  const found = await deps.gate().sessions.find(caller.id, sessionId);
  if (found === undefined) throw new ApiError(404, 'There is no such session.', { code: 'session_not_found' });
  return { caller, sessionId, agent: found.agent, request: await readBody(c, sessionChatRequest, deps.options.max_body_mb * 1024 * 1024) };
};

const ask = async (deps: ResponsesDeps, c: Context<HttpEnv>, { caller, sessionId, agent: named, request }: Heard): Promise<Asked> => {
  const gate = deps.gate();
  const id = `turn_${randomBytes(14).toString('hex')}`;
  const instructions = request.system_message ?? request.instructions ?? '';
  const words = wordsOf(request);
  let job: Job | undefined;
  try {
    job = await deps.work.begin(c, caller);
    const { signal } = job;
    const place = placeOf(c, caller.id, sessionId);
    const { agent, rows, decisions } = await admitted(gate, { id, place, agent: named, rows: await rowsOf({ input: [{ type: 'message', role: 'user', content: words }] }, { gate, sessionId, signal }) });
    const submitted = await gate.submit({ id, kind: 'session_chat', callerId: caller.id, agent, place, session: { type: 'id', id: sessionId }, decisions, ...splitInput(rows), request: { wishes: instructions === '' ? {} : { instructions }, wire: null }, hidden: true });
    sessionOf(submitted);
    const events = jobOf(cancelledBy(submitted.events, { id, gate, log: deps.log, signal }), job);
    return { id, sessionId, said: rows.at(-1)?.content ?? '', steps: answerSteps(events, () => false) };
  } catch (error) {
    job?.[Symbol.dispose]();
    throw error;
  }
};

/** One exchange in a conversation that is there already. */
export const sessionChat = async (deps: ResponsesDeps, c: Context<HttpEnv>, caller: Caller): Promise<Response> => {
  const heard = await hear(deps, c, caller);
  const named = await deps.replays.take(c, caller, [heard.sessionId, heard.request]);
  c.header('x-hermes-session-id', heard.sessionId);
  if (named?.earlier !== undefined) {
    c.header('idempotency-replayed', 'true');
    return c.json(JSON.parse(named.earlier) as object);
  }
  try {
    const { sessionId, steps } = await ask(deps, c, heard);
    const answer = await finalAnswer(steps);
    const body = { object: 'hermes.session.chat.completion', session_id: sessionId, message: { role: 'assistant', content: answer.text }, usage: wireUsage(answer.usage) };
    await named?.settle(JSON.stringify(body));
    return c.json(body);
  } catch (error) {
    await named?.settle(undefined);
    throw error;
  }
};

async function* framesOf({ id, sessionId, said }: Asked, steps: Steps, nowMs: () => number): AsyncGenerator<Frame, void, undefined> {
  let seq = 0;
  const messageId = `msg_${id.slice('turn_'.length)}`;
  const frame = (event: string, fields: Readonly<Record<string, unknown>> = {}): Frame => ({ event, data: { session_id: sessionId, run_id: id, seq: seq++, ts: nowMs() / 1000, ...fields } });
  try {
    yield frame('run.started', { user_message: said });
    yield frame('message.started', { message: { id: messageId, role: 'assistant' } });
    for (;;) {
      const { value: step, done } = await steps.next();
      if (done === true) {
        if (step instanceof ApiError) yield frame('error', { ...step.body });
        else {
          yield frame('assistant.completed', { message_id: messageId, content: step.text, completed: step.finish === 'stop', partial: step.finish !== 'stop', interrupted: false });
          yield frame('run.completed', { messages: [{ role: 'assistant', content: step.text }], usage: wireUsage(step.usage) });
        }
        yield frame('done');
        return;
      }
      if (step.type === 'text') yield frame('assistant.delta', { message_id: messageId, delta: step.delta });
      if (step.type === 'tool') yield frame(step.status === 'running' ? 'tool.started' : `tool.${step.status}`, { tool_name: step.name, tool_call_id: step.callId, ...(step.label !== undefined && { preview: step.label }) });
    }
  } finally {
    await endSteps(steps);
  }
}

/** The same, as it happens. */
export const sessionChatStream = async (deps: ResponsesDeps, c: Context<HttpEnv>, caller: Caller): Promise<Response> => {
  const asked = await ask(deps, c, await hear(deps, c, caller));
  const { first, all } = await peek(asked.steps, deps.clock);
  if (first?.done === true && first.value instanceof ApiError) throw first.value;
  c.header('x-hermes-session-id', asked.sessionId);
  return eventStream(c, framesOf(asked, all, () => deps.clock.now()), { clock: deps.clock, keep: deps.options.on_disconnect === 'keep' });
};

import type { TurnInput } from '../../agent/contract.ts';
import type { TurnEvent } from '../../core/turn.ts';
import type { OutboundContext } from '../../hooks/events.ts';
import type { Hooks } from '../../hooks/hooks.ts';
import type { Clock } from '../../lib/clock.ts';
import type { AgentRuntime } from '../agents/agent-runtime.ts';
import type { Agents } from '../agents/agents.ts';
import type { SingleTurns } from '../agents/single-turns.ts';
import { excerpt, placeOfTarget } from '../hooks/contexts.ts';
import { screenEvent } from '../hooks/screen-event.ts';
import type { WholeQuestion } from './api-gate.ts';
import { apiAccount, apiPlatform, apiTarget, bindApiTurn } from './place.ts';
import { withInstructions } from './with-instructions.ts';

export interface AskOnceDeps {
  readonly agents: Agents;
  readonly clock: Clock;
  readonly hooks: Hooks;
  readonly singles: SingleTurns;
}

const inputOf = async (runtime: AgentRuntime, question: WholeQuestion): Promise<TurnInput> => {
  const { agent, callerId, place, sessionId, turnId, transcript, clientTools, toolChoice, reasoningEffort } = question;
  const { settings } = runtime;
  const system = await runtime.promptOnce({ sessionId, userId: callerId, target: apiTarget(place) }, apiPlatform);
  return {
    ...bindApiTurn(agent, callerId, place),
    sessionId,
    turnId,
    system: withInstructions(system, question.instructions),
    transcript,
    limits: { activityMs: settings.agent.gateway_timeout * 1000, totalMs: settings.agent.turn_timeout * 1000, maxIterations: settings.agent.max_turns },
    ...(clientTools !== undefined && { clientTools }),
    ...(toolChoice !== undefined && { toolChoice }),
    ...(reasoningEffort !== undefined && { reasoningEffort }),
  };
};

/** No turn of a conversation has this number. */
const noTurn = 0;

const contextOf = ({ agent, callerId, place, sessionId }: WholeQuestion): Omit<OutboundContext, 'text' | 'interim'> => ({
  ...placeOfTarget(apiTarget(place), { agent, userId: callerId }),
  session_id: sessionId,
  turn_id: noTurn,
});

const busy: TurnEvent = { type: 'end', reason: 'model_error', error: { code: 'rate_limited', sentence: 'The agent works on as many answers as it may at once. Try again in a moment.' } };

/** Hooks see what is asked and said as they do in a conversation. */
async function* screened(deps: AskOnceDeps, question: WholeQuestion, signal: AbortSignal): AsyncGenerator<TurnEvent, void, undefined> {
  const { hooks, clock } = deps;
  const runtime = await deps.agents.get(question.agent);
  const input = await inputOf(runtime, question);
  const { agent } = runtime.answererFor(apiAccount);
  const context = contextOf(question);
  const startedMs = clock.now();
  const message = excerpt(question.transcript.findLast(({ role }) => role === 'user')?.content ?? '');
  let response = '';
  let model: string | null = null;
  hooks.emit('agent:start', { ...context, message });
  for await (const made of agent.run(input, signal)) {
    const events = hooks.inUse ? (await screenEvent(hooks, context, made)).events : [made];
    for (const event of events) {
      if (event.type === 'message' && event.message.role === 'assistant') response = excerpt(event.message.content);
      if (event.type === 'usage' && event.helper !== true) ({ model } = event);
      if (event.type === 'end') hooks.emit('agent:end', { ...context, message, response, reason: event.reason, model, duration_ms: clock.now() - startedMs });
      yield event;
    }
  }
}

/** Answers a question of which nothing is kept, when its agent has a hand free. Ends with exactly one `end` event. */
export async function* askOnce(deps: AskOnceDeps, question: WholeQuestion, signal: AbortSignal): AsyncGenerator<TurnEvent, void, undefined> {
  const slot = await deps.singles.enter(question.agent, signal);
  if (slot === undefined) {
    yield signal.aborted ? { type: 'end', reason: 'stopped' } : busy;
    return;
  }
  await using _slot = slot;
  yield* screened(deps, question, signal);
}

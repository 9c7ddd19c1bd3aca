import type { TranscriptMessage } from '../../core/transcript.ts';
import type { TurnEvent } from '../../core/turn.ts';
import type { Hooks } from '../../hooks/hooks.ts';
import type { BegunTurn } from '../../sessions/begin.ts';
import type { CompressedFacts } from '../../sessions/compression/job.ts';
import type { FinishedTurn } from '../../sessions/lanes.ts';
import { addDecisions } from '../../store/messages/inbox.ts';
import type { Store } from '../../store/store.ts';
import { contextOfTurn, excerpt } from './contexts.ts';
import { screenEvent } from './screen-event.ts';

/** What a turn tells its hooks, and asks them. */
export interface TurnHooks {
  begins(begun: BegunTurn): void;
  onEvent(begun: BegunTurn, event: TurnEvent): void;
  onCompressed(begun: BegunTurn, facts: CompressedFacts): void;
  onFinished(turn: FinishedTurn): void;
  /** What happens in place of an event of the agent. */
  screen(begun: BegunTurn, event: TurnEvent): Promise<readonly TurnEvent[]>;
}

interface Step {
  iteration: number;
  tools: readonly string[];
  /** Results that are still to come. */
  open: number;
}

const askedIn = ({ last }: BegunTurn): string => excerpt(last?.event.text ?? '');

export const newTurnHooks = (hooks: Hooks, store: Store): TurnHooks => {
  const steps = new WeakMap<BegunTurn, Step>();

  const onMessage = (begun: BegunTurn, message: TranscriptMessage): void => {
    const tools = (message.toolCalls ?? []).map(({ name }) => name);
    const step = steps.get(begun);
    if (message.role === 'assistant' && tools.length > 0) steps.set(begun, { iteration: (step?.iteration ?? 0) + 1, tools, open: tools.length });
    if (message.role !== 'tool' || step === undefined || step.open === 0) return;
    step.open -= 1;
    if (step.open === 0) hooks.emit('agent:step', { ...contextOfTurn(begun), iteration: step.iteration, tool_names: step.tools });
  };

  return {
    begins(begun) {
      if (begun.turn.chore === undefined) hooks.emit('agent:start', { ...contextOfTurn(begun), message: askedIn(begun) });
    },
    onEvent(begun, event) {
      if (event.type === 'message') onMessage(begun, event.message);
    },
    onCompressed(begun, { sessionId, count, cause }) {
      hooks.emit('session:compress', { ...contextOfTurn(begun), session_id: sessionId, old_session_id: sessionId, in_place: true, compression_count: count, cause });
    },
    onFinished({ begun, result, ms }) {
      if (begun.turn.chore !== undefined) return;
      const response = excerpt(result.messages.at(-1)?.content ?? result.answer?.text ?? '');
      hooks.emit('agent:end', { ...contextOfTurn(begun), message: askedIn(begun), response, reason: result.reason, model: result.model, duration_ms: ms });
    },
    async screen(begun, event) {
      if (!hooks.inUse) return [event];
      const { events, decisions } = await screenEvent(hooks, contextOfTurn(begun), event);
      if (decisions.length > 0) await store.write((tx) => addDecisions(tx, begun.inboxIds, decisions), { patient: true });
      return events;
    },
  };
};

import type { TranscriptMessage } from '../../core/transcript.ts';
import type { TurnEvent } from '../../core/turn.ts';
import { isSilentReply } from '../../delivery/silence.ts';
import type { HookDecision } from '../../hooks/consult.ts';
import type { OutboundContext } from '../../hooks/events.ts';
import type { Hooks } from '../../hooks/hooks.ts';

export interface ScreenedEvent {
  /** What happens in its place. */
  readonly events: readonly TurnEvent[];
  readonly decisions: readonly HookDecision[];
}

/** What the agent is taken to have said when a hook lets nothing of it through. */
const nothingSaid = '[SILENT]';

const isSaid = ({ role, content }: TranscriptMessage): boolean => role === 'assistant' && content.trim() !== '' && !isSilentReply(content);

const screenMessage = async (hooks: Hooks, about: Omit<OutboundContext, 'text' | 'interim'>, message: TranscriptMessage): Promise<{ readonly message: TranscriptMessage; readonly decisions: readonly HookDecision[] }> => {
  const interim = (message.toolCalls ?? []).length > 0;
  const { state, decisions } = await hooks.outbound({ ...about, text: message.content, interim });
  const content = state.type === 'pass' ? state.text : (state.message ?? (interim ? '' : nothingSaid));
  return { message: content === message.content ? message : { ...message, content }, decisions };
};

/** What is shown and stored of an event of a turn. Where hooks decide what is said, nothing of a text is seen before they have seen all of it. */
export const screenEvent = async (hooks: Hooks, about: Omit<OutboundContext, 'text' | 'interim'>, event: TurnEvent): Promise<ScreenedEvent> => {
  const as = (...events: readonly TurnEvent[]): ScreenedEvent => ({ events, decisions: [] });
  const withheld = hooks.decides('message:outbound', about.agent_id);
  if (event.type === 'text' || event.type === 'reasoning') return withheld ? as() : as(event);
  if (event.type !== 'message' || !isSaid(event.message)) return as(event);
  const { message, decisions } = await screenMessage(hooks, about, event.message);
  const told: readonly TurnEvent[] = withheld && isSaid(message) ? [{ type: 'text', delta: message.content }] : [];
  return { events: [...told, { ...event, message }], decisions };
};

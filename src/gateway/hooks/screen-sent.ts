import type { ToolContext } from '../../agent/tools/contract.ts';
import { platformOf } from '../../core/ids.ts';
import type { Target } from '../../core/message.ts';
import type { Hooks } from '../../hooks/hooks.ts';

export interface Sent {
  readonly text: string;
  readonly to: Target;
  readonly context: ToolContext;
}

/** What is said when an agent writes into another chat than its own; undefined when a hook lets nothing through. Hooks see the place where it is read. */
export const screenSent = async (hooks: Hooks, { text, to, context }: Sent): Promise<string | undefined> => {
  if (!hooks.inUse) return text;
  const { state } = await hooks.outbound({
    agent_id: context.place.agent,
    platform: platformOf(to.account),
    account: to.account,
    user_id: null,
    user_name: null,
    chat_id: to.chatId,
    chat_type: to.chatType,
    thread_id: to.threadId ?? null,
    session_id: context.sessionId,
    turn_id: Number(context.turnId),
    text,
    interim: false,
  });
  return state.type === 'pass' ? state.text : state.message;
};

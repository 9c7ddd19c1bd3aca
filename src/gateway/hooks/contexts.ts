import { platformOf } from '../../core/ids.ts';
import type { InboundEvent, Target } from '../../core/message.ts';
import type { CommandContext, InboundContext, PlaceContext, SelectAgentContext } from '../../hooks/events.ts';
import type { BegunTurn } from '../../sessions/begin.ts';

const longestExcerpt = 500;

export const excerpt = (text: string): string => text.slice(0, longestExcerpt).toWellFormed();

type Spoken = Pick<InboundEvent, 'account' | 'chat' | 'sender'>;

export const placeOfEvent = ({ account, chat, sender }: Spoken, agent: string): PlaceContext => ({
  agent_id: agent,
  platform: platformOf(account),
  account,
  user_id: sender.id,
  user_name: sender.name ?? null,
  chat_id: chat.id,
  chat_type: chat.type,
  thread_id: chat.threadId ?? null,
});

export const placeOfTarget = (target: Target, of: { agent: string; userId: string | null; userName?: string | undefined }): PlaceContext => ({
  agent_id: of.agent,
  platform: platformOf(target.account),
  account: target.account,
  user_id: of.userId,
  user_name: of.userName ?? null,
  chat_id: target.chatId,
  chat_type: target.chatType,
  thread_id: target.threadId ?? null,
});

/** Whoever is answered, or whose conversation it is where nobody has written. */
export const contextOfTurn = ({ session, turn, last }: BegunTurn): PlaceContext & { readonly session_id: string; readonly turn_id: number } => {
  const sender = last === undefined || last.event.kind === 'notice' ? undefined : last.event.sender;
  return { ...placeOfTarget(turn.target, { agent: session.agent, userId: sender?.id ?? session.userId, userName: sender?.name }), session_id: session.id, turn_id: turn.id };
};

export const inboundContext = (event: InboundEvent, at: { agent: string; sessionKey: string }): InboundContext => ({
  ...placeOfEvent(event, at.agent),
  session_key: at.sessionKey,
  message_id: event.messageId ?? null,
  kind: event.kind,
  text: event.text,
  media: event.media.map(({ kind, mime, name }) => ({ kind, mime, name: name ?? null })),
  mentioned: event.mentioned,
});

export const commandContext = (event: InboundEvent, at: { agent: string; sessionKey: string }, command: { name: string; typed: string; args: string }): CommandContext => ({
  ...placeOfEvent(event, at.agent),
  session_key: at.sessionKey,
  command: command.name,
  raw_command: command.typed,
  args: command.args === '' ? [] : command.args.split(/\s+/),
  raw_args: command.args,
});

export const selectAgentContext = (event: Spoken & Pick<InboundEvent, 'text'>, routed: { agent: string; byRoute: boolean }): SelectAgentContext => ({
  ...placeOfEvent(event, routed.agent),
  user_id_alt: event.sender.altId ?? null,
  guild_id: event.chat.scopeId ?? null,
  parent_chat_id: event.chat.parentId ?? null,
  text: event.text,
  route_match: routed.byRoute ? routed.agent : null,
});

import type { Usage } from '../../../core/transcript.ts';
import type { Session } from '../../../store/sessions/sessions.ts';
import type { StoredMessage } from '../../../store/sessions/transcripts.ts';

type Json = Readonly<Record<string, unknown>>;

const seconds = (ms: number): number => Math.floor(ms / 1000);

export const wireUsage = ({ inputTokens, outputTokens }: Usage): Json => ({ input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens });

export const wireSession = (session: Session): Json => ({
  id: session.id,
  title: session.title,
  source: session.account,
  agent: session.agent,
  model: `hermes/${session.agent}`,
  system_prompt: session.settings.instructions ?? null,
  parent_session_id: session.parentId,
  created_at: seconds(session.createdAtMs),
  last_active: seconds(session.activeAtMs),
  ended_at: session.endedAtMs === null ? null : seconds(session.endedAtMs),
  end_reason: session.endReason,
  message_count: session.messageCount,
  usage: wireUsage(session.usage),
});

export const sessionEnvelope = (session: Session): Json => ({ object: 'hermes.session', session: wireSession(session) });

/** A message of a transcript, in the words of chat completions. */
export const wireMessage = ({ id, message, createdAtMs }: StoredMessage): Json => ({
  id,
  role: message.role,
  content: message.content,
  created_at: seconds(createdAtMs),
  ...(message.toolCalls !== undefined && { tool_calls: message.toolCalls.map((call) => ({ id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } })) }),
  ...(message.toolCallId !== undefined && { tool_call_id: message.toolCallId }),
  ...(message.toolName !== undefined && { tool_name: message.toolName }),
  ...(message.attachments !== undefined && { attachments: message.attachments.map(({ kind, mime, name }) => ({ kind, mime, name })) }),
});

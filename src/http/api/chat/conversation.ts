import { createHash } from 'node:crypto';
import type { ToolCall, TranscriptMessage } from '../../../core/transcript.ts';
import type { ApiGate } from '../../../gateway/api/api-gate.ts';
import { ApiError } from '../api-error.ts';
import { keepImages, textOf, wordsAndImages } from '../content.ts';
import { formatInstructions } from '../output-format.ts';
import type { ChatMessage, ChatRequest } from './request.ts';

const callsOf = (message: Extract<ChatMessage, { role: 'assistant' }>): readonly ToolCall[] => (message.tool_calls ?? []).map((call) => ({ id: call.id, name: call.function.name, arguments: call.function.arguments }));

/** What the client tells the agent, from wherever in the conversation it stands. */
export const instructionsOf = ({ messages, response_format }: ChatRequest): string => {
  const said = messages.flatMap((message, index) => (message.role === 'system' || message.role === 'developer' ? [textOf(message.content, ['messages', index, 'content'])] : []));
  return [...said, formatInstructions(response_format) ?? ''].filter((text) => text !== '').join('\n');
};

/** Calls that belong together have one, so that their tools find what earlier ones left; those of two keys never. */
export const conversationId = (request: ChatRequest, callerId: string): string => {
  const first = request.messages.find((message) => message.role === 'user');
  const name = JSON.stringify([callerId, instructionsOf(request), first?.content ?? '']);
  return `api-${createHash('sha256').update(name).digest('hex').slice(0, 16)}`;
};

/** The client's conversation as the agent reads it. Ends with something to be answered, or is refused. */
export const transcriptOf = async ({ messages }: ChatRequest, keep: { readonly gate: ApiGate; readonly sessionId: string; readonly signal: AbortSignal }): Promise<readonly TranscriptMessage[]> => {
  const rows: TranscriptMessage[] = [];
  const names = new Map<string, string>();
  for (const [index, message] of messages.entries()) {
    const path = ['messages', index, 'content'];
    switch (message.role) {
      case 'system':
      case 'developer':
        break;
      case 'user': {
        const { text, images } = wordsAndImages(message.content, path);
        const attachments = await keepImages(images, keep);
        rows.push({ role: 'user', content: text.toWellFormed(), ...(attachments.length > 0 && { attachments }) });
        break;
      }
      case 'assistant': {
        const toolCalls = callsOf(message);
        for (const { id, name } of toolCalls) names.set(id, name);
        rows.push({ role: 'assistant', content: textOf(message.content, path).toWellFormed(), ...(toolCalls.length > 0 && { toolCalls }) });
        break;
      }
      case 'tool': {
        const toolName = names.get(message.tool_call_id);
        if (toolName === undefined) throw new ApiError(400, `No call before this message has the id '${message.tool_call_id.slice(0, 100)}'.`, { code: 'invalid_value', param: `messages[${index}].tool_call_id` });
        rows.push({ role: 'tool', content: textOf(message.content, path).toWellFormed(), toolCallId: message.tool_call_id, toolName });
        break;
      }
      default:
        throw message satisfies never;
    }
  }
  checkEnd(rows);
  return rows;
};

const checkEnd = (rows: readonly TranscriptMessage[]): void => {
  const last = rows.at(-1);
  const empty = last === undefined || (last.role === 'user' && last.content.trim() === '' && last.attachments === undefined);
  if (empty) throw new ApiError(400, 'There is nothing to answer: the last message is empty, or there is none of a user.', { code: 'invalid_value', param: 'messages' });
  if (last.role === 'assistant') throw new ApiError(400, 'The last message has to be one of a user or of a tool.', { code: 'invalid_value', param: 'messages' });
};

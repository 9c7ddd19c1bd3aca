import { noUsage } from '../../../core/transcript.ts';
import type { ToolCall, Usage } from '../../../core/transcript.ts';
import type { TurnAnswer } from '../answer.ts';
import type { ApiError } from '../api-error.ts';
import type { Json } from './input.ts';
import { shownInput } from './input.ts';
import { itemId } from './item-id.ts';
import { namespacesOf, outerName } from './namespaces.ts';
import type { ResponseRequest } from './request.ts';

export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** What a response says about its request. Plain JSON: it is kept with the call. */
export interface ResponseHead {
  readonly id: string;
  readonly createdAt: number;
  readonly model: string;
  readonly echo: Json;
  readonly input: readonly Json[];
  /** In which functions of the client stand. */
  readonly namespaces?: readonly string[];
}

const toolsOf = ({ tools }: ResponseRequest): readonly Json[] =>
  (tools ?? []).flatMap((tool) => (tool.type === 'function' ? [{ type: 'function', name: tool.name, description: tool.description ?? null, parameters: tool.parameters ?? null, strict: tool.strict ?? false }] : []));

/** Both documents want every field, one of them no null in it. */
const textOf = ({ text }: ResponseRequest): Json => {
  const format = text?.format ?? { type: 'text' };
  const { name = 'answer', description, schema, strict } = format;
  return {
    format: format.type === 'json_schema' ? { type: 'json_schema', name, description: description ?? '', schema: schema ?? {}, strict: strict ?? false } : { type: format.type },
    ...(text?.verbosity !== undefined && text.verbosity !== null && { verbosity: text.verbosity }),
  };
};

export const headOf = (request: ResponseRequest, at: { readonly id: string; readonly createdAt: number; readonly model: string }): ResponseHead => ({
  ...at,
  input: shownInput(request, at.id),
  namespaces: namespacesOf(request),
  echo: {
    instructions: request.instructions ?? null,
    previous_response_id: request.previous_response_id ?? null,
    ...(request.conversation !== undefined && request.conversation !== null && { conversation: { id: request.conversation } }),
    tools: toolsOf(request),
    tool_choice: request.tool_choice ?? 'auto',
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    reasoning: { effort: request.reasoning?.effort ?? null, summary: request.reasoning?.summary ?? null },
    text: textOf(request),
    metadata: request.metadata ?? {},
    truncation: request.truncation ?? 'disabled',
    temperature: request.temperature ?? 1,
    top_p: request.top_p ?? 1,
    presence_penalty: request.presence_penalty ?? 0,
    frequency_penalty: request.frequency_penalty ?? 0,
    top_logprobs: request.top_logprobs ?? 0,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    store: request.store ?? true,
    background: request.background ?? false,
    service_tier: 'default',
    safety_identifier: request.safety_identifier ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
  },
});

const wireUsage = (usage: Usage): Json => ({
  input_tokens: usage.inputTokens,
  input_tokens_details: { cached_tokens: usage.cacheReadTokens, cache_write_tokens: usage.cacheWriteTokens },
  output_tokens: usage.outputTokens,
  output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  total_tokens: usage.inputTokens + usage.outputTokens,
});

export const textPart = (text: string): Json => ({ type: 'output_text', text, annotations: [], logprobs: [] });

export const messageItem = (responseId: string, status: 'in_progress' | 'completed' | 'incomplete', text?: string): Json & { readonly id: string } => ({
  id: itemId('msg', responseId, 'message'),
  type: 'message',
  status,
  role: 'assistant',
  content: text === undefined ? [] : [textPart(text)],
});

export const callItem = (head: Pick<ResponseHead, 'id' | 'namespaces'>, call: ToolCall, status: 'in_progress' | 'completed'): Json & { readonly id: string } => ({
  id: itemId('fc', head.id, `call:${call.id}`),
  type: 'function_call',
  status,
  call_id: call.id,
  ...outerName(call.name, head.namespaces ?? []),
  arguments: status === 'completed' ? call.arguments : '',
});

/** How a response stands. */
export interface ResponseState {
  readonly status: ResponseStatus;
  readonly answer?: TurnAnswer;
  readonly error?: ApiError;
  readonly completedAt?: number;
}

const codeOf = (error: ApiError): string => {
  if (error.status === 429) return 'rate_limit_exceeded';
  return error.status === 400 ? 'invalid_prompt' : 'server_error';
};

const outputOf = (head: ResponseHead, status: ResponseStatus, answer: TurnAnswer | undefined): readonly Json[] => {
  if (answer === undefined) return [];
  const message = answer.text === '' ? [] : [messageItem(head.id, status === 'completed' ? 'completed' : 'incomplete', answer.text)];
  return [...message, ...answer.calls.map((call) => callItem(head, call, 'completed'))];
};

/** What an answer that came to its end is: a whole one, or one that was cut off. */
export const statusOf = ({ finish }: TurnAnswer): 'completed' | 'incomplete' => (finish === 'length' || finish === 'content_filter' ? 'incomplete' : 'completed');

export const responseResource = (head: ResponseHead, { status, answer, error, completedAt }: ResponseState): Json & { readonly output: readonly Json[] } => ({
  id: head.id,
  object: 'response',
  created_at: head.createdAt,
  completed_at: status === 'completed' ? (completedAt ?? null) : null,
  status,
  error: error === undefined ? null : { code: codeOf(error), message: error.message },
  incomplete_details: status === 'incomplete' ? { reason: answer?.finish === 'content_filter' ? 'content_filter' : 'max_output_tokens' } : null,
  model: head.model,
  ...head.echo,
  output: outputOf(head, status, answer),
  // One document forbids that it is left out, the other that it is null.
  usage: wireUsage(answer?.usage ?? noUsage),
});

import type { ToolCall, TranscriptMessage } from '../../../core/transcript.ts';
import { alternate } from '../../alternation.ts';
import type { ModelRequest } from '../contract.ts';
import { listOf, recordOf } from './json-fields.ts';
import { dataUrl, imagesOf, wireArguments, wireName, wireResult, wireText } from './wire.ts';
import type { WireContext, WireRequest } from './wire.ts';

type WirePart = { readonly type: 'text'; readonly text: string } | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

type WireMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly WirePart[] }
  | { readonly role: 'assistant'; readonly content: string | null; readonly tool_calls?: readonly WireCall[]; readonly reasoning_content?: string; readonly reasoning_details?: readonly unknown[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

interface WireCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
  readonly extra_content?: unknown;
}

/** What a chat completions endpoint may want back with a tool call. */
export interface ChatReplay {
  /** The reasoning of the row is sent back as `reasoning_content`. */
  readonly reasoning?: true;
  readonly details?: readonly unknown[];
  /** By the id of the call. */
  readonly extras?: Readonly<Record<string, unknown>>;
}

/** Google's word for a call that another model made. */
const foreignCall = { google: { thought_signature: 'skip_thought_signature_validator' } };

const userContent = (row: TranscriptMessage, context: WireContext): string | readonly WirePart[] => {
  const text = wireText(row, context);
  const images = imagesOf(row, context.images);
  if (images.length === 0) return text;
  return [{ type: 'text', text }, ...images.map((image) => ({ type: 'image_url', image_url: { url: dataUrl(image) } }) as const)];
};

const replayOf = (row: TranscriptMessage, maker: string): ChatReplay => {
  const data = row.replay?.maker === maker ? recordOf(row.replay.data) : undefined;
  const details = listOf(data?.['details']);
  const extras = recordOf(data?.['extras']);
  return { ...(data?.['reasoning'] === true && { reasoning: true }), ...(details !== undefined && { details }), ...(extras !== undefined && { extras }) };
};

const wireCalls = (calls: readonly ToolCall[], extras: Readonly<Record<string, unknown>>, context: WireContext): readonly WireCall[] => {
  const signed = context.quirks.googleSignatures || context.conceded.has('unsigned_calls');
  return calls.map((call, index) => {
    const extra = extras[call.id] ?? (signed && index === 0 ? foreignCall : undefined);
    return { id: call.id, type: 'function', function: { name: wireName(call.name), arguments: wireArguments(call.arguments) }, ...(extra !== undefined && { extra_content: extra }) };
  });
};

const assistantMessage = (row: TranscriptMessage, context: WireContext): WireMessage => {
  const content = row.content.toWellFormed();
  if (row.toolCalls === undefined || row.toolCalls.length === 0) return { role: 'assistant', content };
  const { reasoning, details, extras = {} } = replayOf(row, context.maker);
  const wanted = context.quirks.reasoningContent || context.conceded.has('bare_calls');
  return {
    role: 'assistant',
    content: content === '' ? null : content,
    ...((reasoning === true || wanted) && { reasoning_content: reasoning === true ? (row.reasoning ?? '').toWellFormed() : '' }),
    ...(details !== undefined && { reasoning_details: details }),
    tool_calls: wireCalls(row.toolCalls, extras, context),
  };
};

const wireMessage = (row: TranscriptMessage, context: WireContext): WireMessage => {
  switch (row.role) {
    case 'user':
      return { role: 'user', content: userContent(row, context) };
    case 'assistant':
      return assistantMessage(row, context);
    case 'tool':
      return { role: 'tool', tool_call_id: row.toolCallId ?? '', content: wireResult(row) };
    default:
      return row.role satisfies never;
  }
};

const otherName = { max_tokens: 'max_completion_tokens', max_completion_tokens: 'max_tokens' } as const;

const settings = (request: ModelRequest, { quirks, conceded, effort }: WireContext): Readonly<Record<string, unknown>> => {
  const limit = conceded.has('token_limit') ? otherName[quirks.tokenLimit] : quirks.tokenLimit;
  const thinking = quirks.effort === 'reasoning' ? { reasoning: { effort } } : { reasoning_effort: effort };
  return {
    ...(request.maxOutputTokens !== undefined && { [limit]: request.maxOutputTokens }),
    ...(effort !== undefined && !conceded.has('effort') && thinking),
    ...(quirks.tellsCost && { usage: { include: true } }),
    stream: !conceded.has('stream'),
    ...(!conceded.has('stream') && !conceded.has('stream_options') && { stream_options: { include_usage: true } }),
  };
};

const writtenTools = new WeakMap<ModelRequest['tools'], string>();

/** An agent's tools stay the same list from call to call, and are most of a short request. */
const wireTools = (tools: ModelRequest['tools']): string => {
  const known = writtenTools.get(tools);
  if (known !== undefined) return known;
  const written = JSON.stringify(tools.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } })));
  writtenTools.set(tools, written);
  return written;
};

/** The JSON body of a chat completion. What changes from call to call stands behind what does not. */
export const chatRequest = (request: ModelRequest, context: WireContext): WireRequest => {
  const messages = alternate(request.messages).map((row) => wireMessage(row, context));
  const system: WireMessage[] = request.system === '' ? [] : [{ role: 'system', content: request.system.toWellFormed() }];
  const tools = request.tools.length > 0 ? `"tools":${wireTools(request.tools)},` : '';
  const rest = JSON.stringify({
    messages: [...system, ...messages],
    ...(request.tools.length > 0 && request.toolChoice !== undefined && { tool_choice: typeof request.toolChoice === 'string' ? request.toolChoice : { type: 'function', function: request.toolChoice } }),
    ...settings(request, context),
  });
  return { body: `{"model":${JSON.stringify(request.model)},${tools}${rest.slice(1)}` };
};

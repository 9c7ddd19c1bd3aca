import type { Attachment, ToolCall, TranscriptMessage } from '../../core/transcript.ts';
import { alternate } from '../alternation.ts';
import type { ModelRequest } from './contract.ts';
import { recordOf } from './json-fields.ts';

type WirePart = { readonly type: 'text'; readonly text: string } | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

type WireMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly WirePart[] }
  | { readonly role: 'assistant'; readonly content: string | null; readonly tool_calls?: readonly WireCall[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

interface WireCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** Data URLs of the attachments that are sent as images; the others are described. */
export type Images = ReadonlyMap<Attachment, string>;

export type TokenLimitField = 'max_tokens' | 'max_completion_tokens';

/** Newer models of OpenAI know only the second name, most other servers only the first. */
export const tokenLimitField = (host: string): TokenLimitField =>
  /(^|\.)openai\.(com|azure\.com)$/.test(host) ? 'max_completion_tokens' : 'max_tokens';

const note = (attachment: Attachment): string =>
  `[attached ${attachment.kind} ${JSON.stringify(attachment.name)} (${attachment.mime}), file ${JSON.stringify(attachment.path)}]`;

const userContent = (row: TranscriptMessage, images: Images): string | readonly WirePart[] => {
  const attachments = row.attachments ?? [];
  const text = [row.content, attachments.map(note).join('\n')].filter((part) => part !== '').join('\n\n').toWellFormed();
  const urls = attachments.flatMap((attachment) => images.get(attachment) ?? []);
  if (urls.length === 0) return text;
  return [{ type: 'text', text }, ...urls.map((url) => ({ type: 'image_url', image_url: { url } }) as const)];
};

/** Servers refuse a whole conversation for one name or one argument that a model once got wrong. */
const wireName = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unnamed';

const wireArguments = (text: string): string => {
  try {
    return recordOf(JSON.parse(text)) === undefined ? '{}' : text.toWellFormed();
  } catch (error) {
    if (error instanceof SyntaxError) return '{}';
    throw error;
  }
};

const wireCall = (call: ToolCall): WireCall => ({
  id: call.id,
  type: 'function',
  function: { name: wireName(call.name), arguments: wireArguments(call.arguments) },
});

const wireMessage = (row: TranscriptMessage, images: Images): WireMessage => {
  switch (row.role) {
    case 'user':
      return { role: 'user', content: userContent(row, images) };
    case 'assistant': {
      const content = row.content.toWellFormed();
      if (row.toolCalls === undefined || row.toolCalls.length === 0) return { role: 'assistant', content };
      return { role: 'assistant', content: content === '' ? null : content, tool_calls: row.toolCalls.map(wireCall) };
    }
    case 'tool':
      return { role: 'tool', tool_call_id: row.toolCallId ?? '', content: row.content.toWellFormed() || '(no output)' };
    default:
      return row.role satisfies never;
  }
};

/** The JSON body of a streamed chat completion. The same history always gives the same bytes, so that servers can cache it. */
export const chatRequest = (request: ModelRequest, options: { readonly images: Images; readonly tokenLimit: TokenLimitField }): string => {
  const messages = alternate(request.messages).map((row) => wireMessage(row, options.images));
  const system: WireMessage[] = request.system === '' ? [] : [{ role: 'system', content: request.system.toWellFormed() }];
  return JSON.stringify({
    model: request.model,
    messages: [...system, ...messages],
    ...(request.tools.length > 0 && {
      tools: request.tools.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } })),
      ...(request.toolChoice !== undefined && { tool_choice: request.toolChoice }),
    }),
    ...(request.maxOutputTokens !== undefined && { [options.tokenLimit]: request.maxOutputTokens }),
    stream: true,
    stream_options: { include_usage: true },
  });
};

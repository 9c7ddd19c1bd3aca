import type { MediaKind } from './message.ts';

export type Role = 'user' | 'assistant' | 'tool';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text as the model wrote it. */
  readonly arguments: string;
}

export interface Attachment {
  readonly kind: MediaKind;
  readonly mime: string;
  readonly name: string;
  /** Below the home's media folder. */
  readonly path: string;
}

/** What the maker of a message wants back word for word, such as signed or encrypted reasoning. Of no use to anybody else. */
export interface Replay {
  /** Wire format, host and model that made it. */
  readonly maker: string;
  /** JSON in a form of the maker's wire format. */
  readonly data: unknown;
}

/** One row of a conversation as the model will see it again. */
export interface TranscriptMessage {
  readonly role: Role;
  readonly content: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly attachments?: readonly Attachment[];
  readonly reasoning?: string;
  readonly replay?: Replay;
  readonly finishReason?: string;
  /** Who said it, as `account:user id`, where several people speak. For whoever answers for people's data; no model is shown it. */
  readonly speaker?: string;
}

/** `actual` is what the endpoint said; `estimated` comes from a table of prices, or is a sum of which a part is unknown. */
export interface Cost {
  readonly usd: number;
  readonly status: 'actual' | 'estimated';
}

export interface Usage {
  /** All that was read, cached parts included. */
  readonly inputTokens: number;
  /** All that was written, reasoning included. */
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  /** Left out when nobody knows. */
  readonly cost?: Cost;
}

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

const isNothing = (usage: Usage): boolean => usage.inputTokens === 0 && usage.outputTokens === 0 && usage.cost === undefined;

const addCost = (a: Usage, b: Usage): Cost | undefined => {
  if (isNothing(a)) return b.cost;
  if (isNothing(b)) return a.cost;
  if (a.cost === undefined && b.cost === undefined) return undefined;
  return { usd: (a.cost?.usd ?? 0) + (b.cost?.usd ?? 0), status: a.cost?.status === 'actual' && b.cost?.status === 'actual' ? 'actual' : 'estimated' };
};

export const addUsage = (a: Usage, b: Usage): Usage => {
  const cost = addCost(a, b);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    ...(cost !== undefined && { cost }),
  };
};

/** An image costs a model about 1600 tokens whatever its file weighs; a token is about four bytes. */
const imageBytes = 6400;

/** UTF-8 bytes of all that a model reads of a message; an image counts as the text that would cost as much. */
export const messageSizeBytes = (message: TranscriptMessage): number => {
  let size = Buffer.byteLength(message.content) + Buffer.byteLength(message.toolName ?? '') + Buffer.byteLength(message.toolCallId ?? '');
  for (const call of message.toolCalls ?? []) size += Buffer.byteLength(call.id) + Buffer.byteLength(call.name) + Buffer.byteLength(call.arguments);
  for (const file of message.attachments ?? []) size += Buffer.byteLength(file.name) + Buffer.byteLength(file.path) + (file.mime.startsWith('image/') ? imageBytes : 0);
  return size;
};

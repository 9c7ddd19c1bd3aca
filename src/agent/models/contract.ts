import type { ToolCall, TranscriptMessage, Usage } from '../../core/transcript.ts';

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly TranscriptMessage[];
  readonly tools: readonly ToolDefinition[];
  /** `none`: the tools stay known, but the model is asked to answer in words. */
  readonly toolChoice?: 'none';
  readonly maxOutputTokens?: number;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** The stream of one call. Exactly one `finish` ends it; every failure is a thrown `ModelError`. */
export type ModelEvent =
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'reasoning'; readonly delta: string }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly toolCalls: readonly ToolCall[]; readonly usage: Usage; readonly model: string };

/** One wire format to one endpoint. It makes one attempt: retrying is the caller's. */
export interface ModelProvider {
  readonly name: string;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

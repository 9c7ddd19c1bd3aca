import type { ReasoningEffort } from '../../core/reasoning-effort.ts';
import type { Replay, ToolCall, TranscriptMessage, Usage } from '../../core/transcript.ts';
import type { AuxiliaryTask } from './options.ts';

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** `none`: the tools stay known, but the model is asked to answer in words. `required`: it has to call one; or the one that is named. */
export type ToolChoice = 'none' | 'required' | { readonly name: string };

export interface ModelRequest {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly TranscriptMessage[];
  readonly tools: readonly ToolDefinition[];
  /** It is about the images in the messages: whoever cannot look at them is to fail instead of answering. */
  readonly needsImages?: true;
  readonly toolChoice?: ToolChoice;
  readonly maxOutputTokens?: number;
  /** Instead of the endpoint's own setting. */
  readonly reasoningEffort?: ReasoningEffort;
  /** The smaller job that it is for, so that its cost can be told apart; left out for a turn. */
  readonly task?: AuxiliaryTask;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export interface Finish {
  readonly type: 'finish';
  readonly reason: FinishReason;
  readonly toolCalls: readonly ToolCall[];
  readonly usage: Usage;
  /** As the endpoint calls it. */
  readonly model: string;
  /** To be kept with the message, if the message is kept whole. */
  readonly replay?: Replay;
}

/** The stream of one call. Exactly one `finish` ends it; every failure is a thrown `ModelError`. */
export type ModelEvent = { readonly type: 'text'; readonly delta: string } | { readonly type: 'reasoning'; readonly delta: string } | Finish;

/** One wire format to one endpoint. It makes one attempt: retrying is the caller's. */
export interface ModelProvider {
  readonly name: string;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

/** One way to get an answer: whom to ask, and for which model. */
export interface ModelRoute {
  readonly provider: ModelProvider;
  readonly model: string;
}

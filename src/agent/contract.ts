import type { Sender, Target } from '../core/message.ts';
import type { ReasoningEffort } from '../core/reasoning-effort.ts';
import type { Answer, Question } from '../core/question.ts';
import type { TranscriptMessage, Usage } from '../core/transcript.ts';
import type { TurnEvent } from '../core/turn.ts';
import type { ToolChoice, ToolDefinition } from './models/contract.ts';

/** The reason with which a turn's signal is aborted; it decides how the turn ends and what is kept. */
export interface TurnAbort {
  /**
   * `interrupted` and `stopped` keep what was said so far and complete every tool call with a result. `suspended` keeps nothing
   * more: the turn will run again from what is stored.
   */
  readonly kind: 'interrupted' | 'stopped' | 'suspended';
}

export interface TurnLimits {
  /** Without a sign of life from model or tool. */
  readonly activityMs: number;
  readonly totalMs: number;
  /** Model calls with tools; one more without them follows. 90 when left out. */
  readonly maxIterations?: number;
}

/** Where a turn takes place, and for whom. */
export interface TurnPlace {
  /** The agent that answers. */
  readonly agent: string;
  readonly platform: string;
  readonly target: Target;
  readonly chatName?: string;
  readonly sessionKey?: string;
  /** Whose message is answered; nobody's when the gateway itself began the turn. */
  readonly sender?: Sender;
  /** Where the turn's answer is sent by itself, when that is not `target`: a job's result. */
  readonly deliversTo?: Target;
  /** Where it works, absolute, when that is not the agent's workspace. */
  readonly workdir?: string;
}

/**
 * Asks a person and waits. The question outlives the process: a call that was made again after a restart finds its question, open or answered, by
 * `callId` and `index` (its number among the questions of that call). An answer can be had once; a call that has had it is not run again.
 */
export type AskPerson = (question: Question, from: { readonly callId: string; readonly index: number }, signal: AbortSignal) => Promise<Answer>;

/** Why a turn needs a shorter transcript. */
export interface ShortenRequest {
  /** What the next request is estimated at. */
  readonly tokens: number;
  /** The model has refused it as too long. */
  readonly refused: boolean;
  /** What the model can really read, where its refusal says so. */
  readonly windowTokens?: number | undefined;
}

/** Keeps a turn within what its model can read. */
export interface TurnRoom {
  /** What the transcript is estimated at, prompt and tools included. */
  readonly tokens: number;
  /** What is estimated at more than this is shortened before it is sent. */
  readonly limitTokens: number;
  /** A shorter transcript that says the same; undefined when nothing more can be gained. All that was given out as `message` must be stored. */
  shorten(request: ShortenRequest, signal: AbortSignal): Promise<{ readonly transcript: readonly TranscriptMessage[]; readonly tokens: number } | undefined>;
}

/** One call of a model, at its end. No words are in it. */
export interface ModelCall {
  readonly model: string;
  readonly durationMs: number;
  /** Of a call that answered. */
  readonly usage?: Usage;
  /** Of one that did not; `aborted` when nobody wanted its answer any more. */
  readonly code?: string;
}

export interface TurnInput {
  readonly sessionId: string;
  readonly turnId: string;
  readonly system: string;
  /** Ends with what is to be answered: a user message, or the tool results of a turn that continues. */
  readonly transcript: readonly TranscriptMessage[];
  /** Instead of the agent's own. */
  readonly model?: string;
  readonly reasoningEffort?: ReasoningEffort;
  /**
   * What people said since it was last asked. Asked before each model call; each text comes back as a `message` event with role `user`.
   * What did not come back belongs to the next turn.
   */
  readonly steering: () => readonly string[] | Promise<readonly string[]>;
  /** False where nothing can be said after the turn has ended. */
  readonly asyncDelivery: boolean;
  readonly limits: TurnLimits;
  /** Left out where nothing can be shortened. */
  readonly room?: TurnRoom;
  readonly place: TurnPlace;
  /** Somebody waits who can be asked; left out where that is so exactly when something can be said later. */
  readonly attended?: boolean;
  readonly ask: AskPerson;
  /** Tools of whoever asks: calls of them are not run; the turn ends with them, and goes on with their results as another turn. They take the place of ours with the same name. */
  readonly clientTools?: readonly ToolDefinition[];
  /** Of the first model call. What has to be called is one of `clientTools`. */
  readonly toolChoice?: ToolChoice;
  /** Calls at the end of the transcript that were waiting for a person when the process ended: they are made again. */
  readonly unansweredCalls?: ReadonlySet<string>;
  /** Told of every call of a model, also of those that are repeated. */
  readonly onModelCall?: (call: ModelCall) => void;
}

/** Answers one turn as one stream of events. */
export interface Agent {
  /**
   * Always ends with exactly one `end` event and never throws. After an abort it ends within 100 ms, whatever model and tools do.
   * Whoever stops pulling calls `return()`.
   */
  run(input: TurnInput, signal: AbortSignal): AsyncGenerator<TurnEvent, void, undefined>;
}

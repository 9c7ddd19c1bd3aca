import type { TranscriptMessage } from '../core/transcript.ts';
import type { TurnEvent } from '../core/turn.ts';

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

export interface TurnInput {
  readonly sessionId: string;
  readonly turnId: string;
  readonly system: string;
  /** Ends with what is to be answered: a user message, or the tool results of a turn that continues. */
  readonly transcript: readonly TranscriptMessage[];
  /** Instead of the agent's own. */
  readonly model?: string;
  /**
   * What people said since it was last asked. Asked before each model call; each text comes back as a `message` event with role `user`.
   * What did not come back belongs to the next turn.
   */
  readonly steering: () => readonly string[] | Promise<readonly string[]>;
  /** False where nothing can be said after the turn has ended. */
  readonly asyncDelivery: boolean;
  readonly limits: TurnLimits;
}

/** Answers one turn as one stream of events. */
export interface Agent {
  /**
   * Always ends with exactly one `end` event and never throws. After an abort it ends within 100 ms, whatever model and tools do.
   * Whoever stops pulling calls `return()`.
   */
  run(input: TurnInput, signal: AbortSignal): AsyncGenerator<TurnEvent, void, undefined>;
}

import type { Usage } from '../../../core/transcript.ts';
import type { ExitReason, TurnEvent } from '../../../core/turn.ts';
import type { TurnLimits, TurnPlace } from '../../contract.ts';

/** `orchestrator`: may hand parts of its work on, as far as `delegation.max_spawn_depth` allows. */
export type ChildRole = 'leaf' | 'orchestrator';

/** A piece of work for a helper that knows nothing but this. */
export interface ChildTask {
  readonly goal: string;
  readonly context?: string;
  /** Of those that the agent has at this place; all of them when left out. */
  readonly toolsets?: readonly string[];
  readonly role: ChildRole;
}

export interface ChildRequest extends ChildTask {
  /** Its own conversation, which nobody else takes part in and nobody keeps. */
  readonly id: string;
  readonly parent: { readonly sessionId: string; readonly place: TurnPlace };
  readonly limits: TurnLimits;
  /** Instead of the agent's own. */
  readonly model?: string;
}

/** Has a helper work, as one stream of events that ends with `end`. It asks no person anything. */
export type ChildRunner = (request: ChildRequest, signal: AbortSignal) => AsyncGenerator<TurnEvent, void, undefined>;

export type ChildStatus = 'completed' | 'failed' | 'error' | 'timeout' | 'interrupted';

/** What became of a piece of work. */
export interface ChildOutcome {
  readonly status: ChildStatus;
  /** What the helper said last. */
  readonly summary: string;
  readonly error?: string;
  readonly exitReason: ExitReason;
  readonly apiCalls: number;
  readonly usage: Usage;
  readonly model?: string;
  readonly durationMs: number;
}

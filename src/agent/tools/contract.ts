import type { Answer, Question } from '../../core/question.ts';
import type { TranscriptMessage, Usage } from '../../core/transcript.ts';
import type { Clock } from '../../lib/clock.ts';
import type { TurnPlace } from '../contract.ts';
import type { ToolDefinition } from '../models/contract.ts';

/** What a tool may know about the turn that calls it. */
export interface ToolContext {
  readonly sessionId: string;
  readonly turnId: string;
  readonly callId: string;
  readonly place: TurnPlace;
  readonly clock: Clock;
  /** False where nothing can be said after the turn: a tool must not promise to report later. */
  readonly asyncDelivery: boolean;
  /** Somebody can be asked; left out where that is so exactly when something can be said later. */
  readonly attended?: boolean;
  /** What was said before this call as far as the model reads it, with the results of earlier calls of the same message. */
  readonly transcript?: () => readonly TranscriptMessage[];
  /** Says that a long piece of work is alive, so that the turn's activity deadline does not end it. */
  alive(): void;
  /** Says what models have cost that the tool had work for it; it counts as the turn's. */
  readonly spent?: (usage: Usage, model: string) => void;
  /**
   * Asks a person and waits for the answer, which may take long; the turn's activity deadline stands still meanwhile. Whatever has an effect happens
   * after the answer, never before: when the process ends while it is awaited, the call is made again from its start.
   */
  ask(question: Question, signal: AbortSignal): Promise<Answer>;
}

export type ToolErrorCode =
  | 'bad_arguments' // the model can correct them
  | 'unavailable' // not here, or not now
  | 'failed'; // it was tried and did not work

/** A failure whose message is written for the model. Anything else that a tool throws is a bug and is only logged. */
export class ToolError extends Error {
  readonly code: ToolErrorCode;

  constructor(code: ToolErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ToolError';
    this.code = code;
  }
}

export interface Tool {
  readonly definition: ToolDefinition;
  /** `args` is a JSON object that nobody has checked against the schema yet; see `defineTool`. */
  run(args: Readonly<Record<string, unknown>>, context: ToolContext, signal: AbortSignal): Promise<string>;
  /** Only reads: may run beside its neighbours in one message. */
  readonly parallelSafe?: boolean;
  /** The toolset it belongs to, where `toolsets.ts` does not name it. */
  readonly toolset?: string;
}

/** The tools of one agent, by name. */
export interface ToolSet {
  readonly definitions: readonly ToolDefinition[];
  get(name: string): Tool | undefined;
}

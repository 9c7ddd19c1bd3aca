import type { TranscriptMessage } from '../../core/transcript.ts';
import type { ToolDefinition } from '../models/contract.ts';
import type { MemoryTarget } from './entries.ts';

/** The conversation that something is remembered in. Plain data: it is stored with what waits to be handed over. */
export interface MemorySession {
  readonly sessionId: string;
  readonly agent: string;
  readonly platform: string;
  readonly account: string;
  /** Whose conversation it is; nobody's when several people share it. */
  readonly userId?: string;
  readonly userName?: string;
  /** Nobody but this person reads what is said here. */
  readonly isPrivate: boolean;
}

/** One exchange, as it was said. Tool calls and their results are not part of it. */
export interface RememberedTurn {
  /** The same again when it has to be handed over a second time. */
  readonly key: string;
  readonly user: string;
  readonly assistant: string;
  readonly atMs: number;
  /** It may have been handed over before. */
  readonly repeated: boolean;
}

export interface MemoryWrite {
  readonly key: string;
  readonly action: 'add' | 'replace' | 'remove';
  readonly target: MemoryTarget;
  readonly content: string;
}

export interface Delegation {
  readonly key: string;
  readonly task: string;
  readonly result: string;
  readonly childSessionId: string;
}

export type MemoryErrorCode =
  | 'unavailable' // not reached, or a temporary refusal
  | 'rate_limited'
  | 'auth' // the owner has to look at the key
  | 'rejected' // it will be refused again
  | 'malformed'; // not what the protocol says

const worthRepeating: Readonly<Record<MemoryErrorCode, boolean>> = { unavailable: true, rate_limited: true, auth: true, rejected: false, malformed: true };

/** A failure of a memory provider. It is logged and shown, and never ends a turn. */
export class MemoryError extends Error {
  readonly code: MemoryErrorCode;
  readonly retryAfterMs: number | undefined;

  /** `message` must not contain a credential. */
  constructor(code: MemoryErrorCode, message: string, facts: { readonly retryAfterMs?: number; readonly cause?: unknown } = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'MemoryError';
    this.code = code;
    this.retryAfterMs = facts.retryAfterMs;
  }

  get isWorthRepeating(): boolean {
    return worthRepeating[this.code];
  }
}

/**
 * A memory beside the files. One instance serves all conversations of an agent. Every failure is a `MemoryError`; whoever calls decides about time limits,
 * repeats and order. Texts have been through redaction.
 */
export interface MemoryProvider {
  readonly name: string;
  /** Whether it has what it needs to work. Asks nobody. */
  isAvailable(): boolean;
  /** Comes before anything else in a conversation, once per process; may come again. */
  initialize(session: MemorySession, signal: AbortSignal): Promise<void>;
  /** What the model is told about it, the same for every conversation. */
  readonly systemPromptBlock?: string;
  readonly toolSchemas: readonly ToolDefinition[];
  /** A `ToolError` is meant for the model to read. */
  handleToolCall(call: { readonly name: string; readonly args: Readonly<Record<string, unknown>> }, session: MemorySession, signal: AbortSignal): Promise<string>;
  /** What it remembers that may help with the query; empty when that is nothing. */
  prefetch?(query: string, session: MemorySession, signal: AbortSignal): Promise<string>;
  /** Prepares what the next `prefetch` will be asked. */
  queuePrefetch?(query: string, session: MemorySession, signal: AbortSignal): Promise<void>;
  syncTurn?(turn: RememberedTurn, session: MemorySession, signal: AbortSignal): Promise<void>;
  onSessionEnd?(end: { readonly key: string; readonly reason: string; readonly atMs: number }, session: MemorySession, signal: AbortSignal): Promise<void>;
  /** A place has moved from one conversation to another. */
  onSessionSwitch?(to: MemorySession, from: MemorySession, signal: AbortSignal): Promise<void>;
  /** What must not get lost when these messages are summarised; empty when that is nothing. */
  onPreCompress?(messages: readonly TranscriptMessage[], session: MemorySession, signal: AbortSignal): Promise<string>;
  onMemoryWrite?(write: MemoryWrite, session: MemorySession, signal: AbortSignal): Promise<void>;
  onDelegation?(delegation: Delegation, session: MemorySession, signal: AbortSignal): Promise<void>;
  shutdown(signal: AbortSignal): Promise<void>;
}

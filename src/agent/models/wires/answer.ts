import { randomUUID } from 'node:crypto';
import type { ToolCall } from '../../../core/transcript.ts';
import type { Finish, FinishReason, ModelEvent } from '../contract.ts';

/** Turns the decoded JSON of one answer, streamed in pieces or whole, into model events. */
export interface Answer {
  /** Throws a `ModelError` for an error object and for what does not belong to an answer. */
  take(json: unknown): void;
  /** Text and reasoning since the last call, adjacent pieces joined. */
  drain(): readonly ModelEvent[];
  /** Something that belongs to an answer has been read. */
  readonly begun: boolean;
  /** The server has said why it stopped; counts may still follow. */
  readonly finished: boolean;
  /** Nothing more follows. */
  readonly complete: boolean;
  /** Call once, at the end, before the last `drain`. */
  finish(): Finish;
}

/** Pieces of text and reasoning on their way to the reader. */
export interface PieceQueue {
  add(type: 'text' | 'reasoning', delta: string): void;
  drain(): readonly ModelEvent[];
}

export const newPieceQueue = (): PieceQueue => {
  let pieces: { type: 'text' | 'reasoning'; delta: string }[] = [];
  return {
    add(type, delta) {
      if (delta === '') return;
      const last = pieces.at(-1);
      if (last?.type === type) last.delta += delta;
      else pieces.push({ type, delta });
    },
    drain() {
      if (pieces.length === 0) return pieces;
      const drained = pieces;
      pieces = [];
      return drained;
    },
  };
};

/** Some servers say `stop` after tool calls, or `tool_calls` without any. */
export const settledReason = (said: FinishReason, hasCalls: boolean): FinishReason => (said === 'stop' || said === 'tool_calls' ? (hasCalls ? 'tool_calls' : 'stop') : said);

/** Adds a call to those of one answer; each has an id of its own: some servers leave it out or use one twice. */
export const addCall = (calls: ToolCall[], call: ToolCall): ToolCall => {
  const taken = call.id === '' || calls.some(({ id }) => id === call.id);
  const added = taken ? { ...call, id: `call_${randomUUID().replaceAll('-', '')}` } : call;
  calls.push(added);
  return added;
};

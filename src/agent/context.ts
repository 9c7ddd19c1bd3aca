import { messageSizeBytes } from '../core/transcript.ts';
import type { Role, TranscriptMessage, Usage } from '../core/transcript.ts';
import type { ToolDefinition } from './models/contract.ts';

/** A transcript row as the store can describe it without loading it. */
export interface ContextRow {
  readonly role: Role;
  /** See `messageSizeBytes`. */
  readonly sizeBytes: number;
}

/** How far back a request reaches, while pages of older rows are still coming in. */
export interface ContextWindow {
  readonly budgetTokens: number;
  /** How many of the newest rows to send, and what they are estimated at. */
  readonly keep: number;
  readonly keepTokens: number;
  /** No older row can change the answer any more. */
  readonly full: boolean;
  readonly seen: number;
  readonly seenTokens: number;
}

const defaultContextTokens = 128_000;
const defaultOutputTokens = 8192;
const envelopeTokens = 10;
/** Below a quarter of the estimate, what a server counted is not a count of what it was sent. */
const leastCounted = 0.25;

/** Bytes rather than characters: a Chinese character is three of them and about one token. */
export const estimateTokens = (sizeBytes: number): number => Math.ceil(sizeBytes / 4);

export const rowTokens = (sizeBytes: number): number => envelopeTokens + estimateTokens(sizeBytes);

export const toolsSizeBytes = (definitions: readonly ToolDefinition[]): number => definitions.reduce((sum, definition) => sum + Buffer.byteLength(JSON.stringify(definition)), 0);

/** What a model can read at once, and how much of that its answer may need. */
export const windowOf = (model: { readonly contextTokens?: number | undefined; readonly outputTokens?: number | undefined }): { readonly windowTokens: number; readonly outputTokens: number } => {
  const windowTokens = model.contextTokens ?? defaultContextTokens;
  return { windowTokens, outputTokens: Math.min(model.outputTokens ?? defaultOutputTokens, Math.floor(windowTokens / 2)) };
};

export const emptyContext = (budgetTokens: number): ContextWindow => ({
  budgetTokens,
  keep: 0,
  keepTokens: 0,
  full: false,
  seen: 0,
  seenTokens: 0,
});

/**
 * Takes the next page of rows, newest first. The window grows by whole exchanges: it always begins at a user message, so that no tool
 * result is without its call. The newest exchange is kept even if it alone is over the budget; the model's own limit judges it.
 */
export const extendContext = (window: ContextWindow, page: readonly ContextRow[]): ContextWindow => {
  let { keep, keepTokens, seen, seenTokens } = window;
  for (const row of page) {
    if (window.full || (keep > 0 && seenTokens > window.budgetTokens)) break;
    seen += 1;
    seenTokens += rowTokens(row.sizeBytes);
    if (row.role === 'user' && (keep === 0 || seenTokens <= window.budgetTokens)) {
      keep = seen;
      keepTokens = seenTokens;
    }
  }
  return { ...window, keep, keepTokens, seen, seenTokens, full: keep > 0 && seenTokens > window.budgetTokens };
};

/** There are no older rows. A history that fits is sent whole, also when it begins with a message of ours. */
export const closeContext = (window: ContextWindow): ContextWindow => {
  const whole = !window.full && (window.seenTokens <= window.budgetTokens || window.keep === 0);
  return whole ? { ...window, keep: window.seen, keepTokens: window.seenTokens, full: true } : { ...window, full: true };
};

/** What the model counted comes before what we estimate, unless it cannot be true. */
export const trustedTokens = (countedTokens: number, estimatedTokens: number): number => (countedTokens < estimatedTokens * leastCounted ? estimatedTokens : countedTokens);

/** What the next request of a turn will be counted at: what the model counted last, and an estimate of what was said since. */
export interface PromptMeter {
  /** `rows` only grow until the next `restart`. */
  tokens(rows: readonly TranscriptMessage[]): number;
  /** The model has read all rows up to now, and counted them. */
  answered(usage: Usage, rows: readonly TranscriptMessage[]): void;
  /** The rows are others now. */
  restart(tokens: number, rows: readonly TranscriptMessage[]): void;
}

export const newPromptMeter = (tokens: number, rows: readonly TranscriptMessage[]): PromptMeter => {
  let known = { tokens, rows: rows.length };
  const measure: PromptMeter['tokens'] = (all) => {
    for (const row of all.slice(known.rows)) known = { tokens: known.tokens + rowTokens(messageSizeBytes(row)), rows: known.rows + 1 };
    return known.tokens;
  };
  return {
    tokens: measure,
    answered: (usage, all) => void (known = { tokens: trustedTokens(usage.inputTokens, measure(all)), rows: all.length }),
    restart: (count, all) => void (known = { tokens: count, rows: all.length }),
  };
};

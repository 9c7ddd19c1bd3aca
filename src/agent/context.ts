import type { Role, TranscriptMessage } from '../core/transcript.ts';

/** A transcript row as the store can describe it without loading it. */
export interface ContextRow {
  readonly role: Role;
  /** UTF-8 bytes of all that the model will read of it: content, tool calls, names. */
  readonly sizeBytes: number;
  readonly images?: number;
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
const rowTokens = 10;
const imageTokens = 1600;

/** Bytes rather than characters: a Chinese character is three of them and about one token. */
const estimateTokens = (sizeBytes: number): number => Math.ceil(sizeBytes / 4);

export const rowSizeBytes = (row: TranscriptMessage): number => {
  let size = Buffer.byteLength(row.content) + (row.toolName === undefined ? 0 : Buffer.byteLength(row.toolName));
  for (const call of row.toolCalls ?? []) size += Buffer.byteLength(call.id) + Buffer.byteLength(call.name) + Buffer.byteLength(call.arguments);
  for (const attachment of row.attachments ?? []) size += Buffer.byteLength(attachment.name) + Buffer.byteLength(attachment.path);
  return size;
};

/** What is left for the transcript once the answer, the system prompt and the tools have their room. */
export const contextBudget = (options: {
  readonly contextTokens?: number;
  readonly outputTokens?: number;
  /** Of the system prompt and the tool definitions. */
  readonly fixedBytes: number;
}): number => {
  const total = options.contextTokens ?? defaultContextTokens;
  const output = Math.min(options.outputTokens ?? defaultOutputTokens, Math.floor(total / 2));
  return Math.max(0, total - output - estimateTokens(options.fixedBytes));
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
    seenTokens += rowTokens + estimateTokens(row.sizeBytes) + (row.images ?? 0) * imageTokens;
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

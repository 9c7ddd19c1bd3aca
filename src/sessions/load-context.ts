import { closeContext, emptyContext, extendContext, rowTokens, trustedTokens } from '../agent/context.ts';
import { messageSizeBytes } from '../core/transcript.ts';
import type { TranscriptMessage } from '../core/transcript.ts';
import { currentCompression } from '../store/sessions/compressions.ts';
import type { PromptCount } from '../store/sessions/sessions.ts';
import { newestMessages } from '../store/sessions/transcripts.ts';
import type { ActiveMessage } from '../store/sessions/transcripts.ts';
import type { Store } from '../store/store.ts';
import { shownMessage } from './compression/shown-message.ts';
import { summaryMessage } from './compression/summary-message.ts';

export interface ContextRoom {
  /** Of prompt and tools. */
  readonly fixedTokens: number;
  /** What the conversation may take beside them. */
  readonly budgetTokens: number;
  /** What the model counted when it last read the conversation. */
  readonly prompt?: PromptCount | undefined;
}

/** What the model is shown of a conversation. */
export interface LoadedContext {
  readonly transcript: readonly TranscriptMessage[];
  readonly messages: number;
  /** What the model will count, prompt and tools included, as far as can be said. */
  readonly tokens: number;
  /** The same, from sizes alone. */
  readonly estimatedTokens: number;
  /** False when older messages did not fit. */
  readonly whole: boolean;
}

/** A bound that holds whatever settings and models say. */
export const mostMessages = 2000;
const firstPage = 100;
const nextPage = 400;

const readPages = async (store: Store, sessionId: string, budgetTokens: number): Promise<{ readonly rows: readonly ActiveMessage[]; readonly whole: boolean }> => {
  let window = emptyContext(budgetTokens);
  const rows: ActiveMessage[] = [];
  let ended = false;
  while (!window.full && (rows.length < mostMessages || window.keep === 0)) {
    const beforeId = rows.at(-1)?.id;
    const limit = beforeId === undefined ? firstPage : nextPage;
    const page = await store.read((db) => newestMessages(db, sessionId, { limit, ...(beforeId !== undefined && { beforeId }) }));
    rows.push(...page);
    window = extendContext(window, page.map(({ message, sizeBytes }) => ({ role: message.role, sizeBytes })));
    ended = page.length < limit;
    if (ended) window = closeContext(window);
  }
  return { rows: rows.slice(0, window.keep).toReversed(), whole: ended && window.keep === rows.length };
};

/**
 * What the model is shown of a conversation: its summary, if it has one, and the newest whole exchanges that fit. Reads about as much from a
 * long one as from a short one.
 */
export const readContext = async (store: Store, sessionId: string, room: ContextRoom): Promise<LoadedContext> => {
  const compression = await store.read((db) => currentCompression(db, sessionId));
  const summary = compression === undefined ? [] : [summaryMessage(compression.summary)];
  const summaryTokens = summary.reduce((sum, message) => sum + rowTokens(messageSizeBytes(message)), 0);
  const { rows, whole } = await readPages(store, sessionId, Math.max(0, room.budgetTokens - summaryTokens));
  const kept = rows.filter((row) => compression !== undefined && row.id <= compression.throughId).length;
  const messages = rows.map((row) => shownMessage(row.message, row.shownChars));
  const tokensOf = (some: readonly ActiveMessage[]): number => some.reduce((sum, row) => sum + rowTokens(row.sizeBytes), 0);
  const estimatedTokens = room.fixedTokens + summaryTokens + tokensOf(rows);
  const { prompt } = room;
  const countedTokens = prompt === undefined ? 0 : prompt.tokens + tokensOf(rows.filter((row) => row.id > prompt.throughId));
  return {
    transcript: [...messages.slice(0, kept), ...summary, ...messages.slice(kept)],
    messages: rows.length,
    tokens: trustedTokens(countedTokens, estimatedTokens),
    estimatedTokens,
    whole,
  };
};

import { closeContext, contextBudget, emptyContext, extendContext } from '../agent/context.ts';
import type { TranscriptMessage } from '../core/transcript.ts';
import type { Store } from '../store/store.ts';
import { newestMessages } from '../store/transcripts.ts';
import type { ActiveMessage } from '../store/transcripts.ts';

export interface ContextLimits {
  readonly contextTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** Of the system prompt and the tool definitions. */
  readonly fixedBytes: number;
}

/** Enough for a long talk, and a bound that holds however long it gets. */
const mostMessages = 120;
const pageSize = 60;

const imagesOf = (message: TranscriptMessage): number => (message.attachments ?? []).filter((attachment) => attachment.mime.startsWith('image/')).length;

/** What the model is shown of a conversation: the newest whole exchanges that fit. Reads about as much from a long one as from a short one. */
export const loadContext = async (store: Store, sessionId: string, limits: ContextLimits): Promise<readonly TranscriptMessage[]> => {
  const budget = contextBudget({
    fixedBytes: limits.fixedBytes,
    ...(limits.contextTokens !== undefined && { contextTokens: limits.contextTokens }),
    ...(limits.outputTokens !== undefined && { outputTokens: limits.outputTokens }),
  });
  let window = emptyContext(budget);
  const rows: ActiveMessage[] = [];
  while (!window.full && (rows.length < mostMessages || window.keep === 0)) {
    const beforeId = rows.at(-1)?.id;
    const page = await store.read((db) => newestMessages(db, sessionId, { limit: pageSize, ...(beforeId !== undefined && { beforeId }) }));
    rows.push(...page);
    window = extendContext(window, page.map(({ message, sizeBytes }) => ({ role: message.role, sizeBytes, images: imagesOf(message) })));
    if (page.length < pageSize) window = closeContext(window);
  }
  return rows
    .slice(0, window.keep)
    .toReversed()
    .map((row) => row.message);
};

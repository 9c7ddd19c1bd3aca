import { join } from 'node:path';
import { removeIfEmpty } from '../lib/prune-folder.ts';
import { sessionMedia } from '../sessions/attachments.ts';
import { removeSession, staleSessions } from '../store/retention/session-retention.ts';
import type { SessionRemoval, StaleScope, StaleSession } from '../store/retention/session-retention.ts';
import type { Store } from '../store/store.ts';
import { eraseFiles, findSessionFiles } from './person/person-files.ts';

export type ConversationRemoval = Exclude<SessionRemoval, { readonly type: 'removed' }> | (Extract<SessionRemoval, { readonly type: 'removed' }> & { readonly files: number });

/** Takes a conversation away with its files; see `removeSession`. */
export const removeConversation = async (store: Store, home: string, of: { readonly sessionId: string; readonly beforeMs?: number }): Promise<ConversationRemoval> => {
  const removal = await removeSession(store, of.sessionId, of.beforeMs);
  if (removal.type !== 'removed') return removal;
  const files = await findSessionFiles(home, { sessionIds: [of.sessionId], processIds: removal.processIds });
  await eraseFiles(store, files);
  await removeIfEmpty(join(home, 'media', sessionMedia(of.sessionId)));
  return { ...removal, files: files.media.length };
};

const pageSize = 50;

/** Every conversation in which nobody has spoken since, the longest silent first. Those that are taken away meanwhile do not disturb it. */
export async function* everyStale(store: Store, scope: StaleScope): AsyncGenerator<StaleSession> {
  for (let after: StaleSession | undefined, more = true; more; ) {
    const page = await store.read((db) => staleSessions(db, scope, { after, limit: pageSize }));
    yield* page;
    after = page.at(-1);
    more = page.length === pageSize;
  }
}

/** Takes away what is past its time, for as long as `budgetMs`; the rest is for the next time. Answers how many went. */
export const pruneConversations = async (store: Store, at: { readonly home: string; readonly scope: StaleScope; readonly signal: AbortSignal; readonly budgetMs: number }): Promise<number> => {
  const untilMs = performance.now() + at.budgetMs;
  let removed = 0;
  for await (const { id } of everyStale(store, at.scope)) {
    if (at.signal.aborted || performance.now() > untilMs) break;
    const removal = await removeConversation(store, at.home, { sessionId: id, beforeMs: at.scope.beforeMs });
    if (removal.type === 'removed') removed += 1;
  }
  return removed;
};

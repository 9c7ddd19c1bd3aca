import type { PlaceContext } from '../../hooks/events.ts';
import type { Hooks } from '../../hooks/hooks.ts';
import { boundSession, findSession } from '../../store/sessions/sessions.ts';
import type { Reading } from '../../store/store.ts';

/** What became of the conversations of a place. */
export type SessionChange =
  | { readonly type: 'start'; readonly sessionId: string; readonly parentId: string | null }
  | { readonly type: 'end'; readonly sessionId: string; readonly reason: string }
  | { readonly type: 'reset'; readonly sessionId: string; readonly oldSessionId: string };

/** What a command has changed at its place, which continued the conversation `beforeId` when it was given. */
export const changesSince = async (db: Reading, sessionKey: string, beforeId: string): Promise<readonly SessionChange[]> => {
  const now = await boundSession(db, sessionKey);
  if (now === undefined || now.sessionId === beforeId) return [];
  const before = await findSession(db, beforeId);
  const reason = before?.endedAtMs == null ? undefined : (before.endReason ?? 'switched');
  const opened = reason === 'new' || reason === 'branched';
  return [
    ...(reason === undefined ? [] : [{ type: 'end', sessionId: beforeId, reason } as const]),
    ...(reason === 'new' ? [{ type: 'reset', sessionId: now.sessionId, oldSessionId: beforeId } as const] : []),
    ...(opened ? [{ type: 'start', sessionId: now.sessionId, parentId: beforeId } as const] : []),
  ];
};

/** Tells hooks what has been committed. */
export const tellSessionChanges = (hooks: Pick<Hooks, 'emit'>, place: PlaceContext & { readonly session_key: string }, changes: readonly SessionChange[]): void => {
  for (const change of changes) {
    const context = { ...place, session_id: change.sessionId };
    switch (change.type) {
      case 'start':
        hooks.emit('session:start', { ...context, parent_id: change.parentId });
        break;
      case 'end':
        hooks.emit('session:end', { ...context, reason: change.reason });
        break;
      case 'reset':
        hooks.emit('session:reset', { ...context, old_session_id: change.oldSessionId });
        break;
      default:
        throw change satisfies never;
    }
  }
};

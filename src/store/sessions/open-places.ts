import type { Target } from '../../core/message.ts';
import type { Reading } from '../store.ts';
import { steadyLimit } from '../store.ts';

/** A place whose conversation has not ended. */
export interface OpenPlace {
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly target: Target;
  readonly activeAtMs: number;
  readonly nowMs: number;
}

/** Places in order of their keys, behind the one that is named. */
export const openPlaces = async (db: Reading, page: { readonly afterKey: string; readonly limit: number }): Promise<readonly OpenPlace[]> => {
  const rows = await db.q
    .selectFrom('bindings')
    .innerJoin('sessions', 'sessions.id', 'bindings.session_id')
    .select(['bindings.session_key', 'bindings.session_id', 'bindings.target', 'sessions.active_at', db.now.as('now')])
    .where('bindings.session_key', '>', page.afterKey)
    .where('sessions.ended_at', 'is', null)
    .orderBy('bindings.session_key')
    .limit(steadyLimit(page.limit))
    .execute();
  return rows.map((row) => ({ sessionKey: row.session_key, sessionId: row.session_id, target: JSON.parse(row.target) as Target, activeAtMs: row.active_at, nowMs: Number(row.now) }));
};

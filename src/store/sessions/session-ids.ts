import type { Reading } from '../store.ts';

export interface SessionScope {
  readonly agent?: string | undefined;
  readonly account?: string | undefined;
}

/** Ids of conversations in their order, from behind `afterId`, for whoever goes through all of them. */
export const pageOfSessionIds = async (db: Reading, scope: SessionScope, page: { readonly afterId: string; readonly limit: number }): Promise<readonly string[]> => {
  let query = db.q.selectFrom('sessions').select('id').where('id', '>', page.afterId);
  if (scope.agent !== undefined) query = query.where('agent', '=', scope.agent);
  if (scope.account !== undefined) query = query.where('account', '=', scope.account);
  const rows = await query.orderBy('id').limit(page.limit).execute();
  return rows.map(({ id }) => id);
};

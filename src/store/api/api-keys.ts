import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import { prepared } from '../prepared.ts';
import type { ApiKeyRow } from '../schema/api-rows.ts';
import { inMs } from '../store.ts';
import type { Reading, Writing } from '../store.ts';

/** What a key may do. */
export type ApiScope = 'chat' | 'sessions' | 'jobs' | 'admin';

export const apiScopes: readonly ApiScope[] = ['chat', 'sessions', 'jobs', 'admin'];

/** What is left out is not limited. */
export interface ApiKeyLimits {
  readonly atOnce?: number;
  readonly perMinute?: number;
  readonly usdPerDay?: number;
}

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly hint: string;
  readonly scopes: readonly ApiScope[];
  readonly limits: ApiKeyLimits;
  readonly createdAtMs: number;
  readonly rotatedAtMs: number | null;
  readonly usedAtMs: number | null;
}

/** A credential is kept only as its hash. */
export interface HashedSecret {
  readonly hash: string;
  readonly hint: string;
}

type Row = Omit<Selectable<ApiKeyRow>, 'hash'>;

const columns = ['id', 'name', 'hint', 'scopes', 'limits', 'created_at', 'rotated_at', 'used_at'] as const;

const toKey = (row: Row): ApiKey => ({
  id: row.id,
  name: row.name,
  hint: row.hint,
  scopes: JSON.parse(row.scopes) as ApiScope[],
  limits: JSON.parse(row.limits) as ApiKeyLimits,
  createdAtMs: row.created_at,
  rotatedAtMs: row.rotated_at,
  usedAtMs: row.used_at,
});

/** False when another key has this name. */
export const createApiKey = async (tx: Writing, key: Pick<ApiKey, 'id' | 'name' | 'scopes' | 'limits'> & HashedSecret): Promise<boolean> => {
  const created = await tx.q
    .insertInto('api_keys')
    .values({ id: key.id, name: key.name, hash: key.hash, hint: key.hint, scopes: JSON.stringify(key.scopes), limits: JSON.stringify(key.limits), created_at: tx.now, rotated_at: null, used_at: null })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning('id')
    .executeTakeFirst();
  return created !== undefined;
};

/** The key whose credential has this hash. */
export const findApiKey = async (db: Reading, hash: string): Promise<ApiKey | undefined> => {
  const [row] = (await selectByHash(db, { hash })).rows;
  return row === undefined ? undefined : toKey(row);
};

const selectByHash = prepared((db, of: { hash: string }) => db.q.selectFrom('api_keys').select(columns).where('hash', '=', of.hash));

export const listApiKeys = async (db: Reading): Promise<readonly ApiKey[]> => (await db.q.selectFrom('api_keys').select(columns).orderBy('name').execute()).map(toKey);

/** The old credential is dead at once; what belongs to the key stays. False when there is no such key. */
export const rotateApiKey = async (tx: Writing, name: string, secret: HashedSecret): Promise<boolean> => {
  const result = await tx.q.updateTable('api_keys').set({ ...secret, rotated_at: tx.now }).where('name', '=', name).executeTakeFirst();
  return result.numUpdatedRows === 1n;
};

/** False when there is no such key. */
export const revokeApiKey = async (tx: Writing, name: string): Promise<boolean> => {
  const result = await tx.q.deleteFrom('api_keys').where('name', '=', name).executeTakeFirst();
  return result.numDeletedRows === 1n;
};

const usedEveryMs = 60_000;

/** Notes that a key was used, at most once a minute. */
export const noteApiKeyUse = async (tx: Writing, id: string): Promise<void> => {
  await tx.q
    .updateTable('api_keys')
    .set({ used_at: tx.now })
    .where('id', '=', id)
    .where((eb) => eb.or([eb('used_at', 'is', null), eb('used_at', '<', inMs(tx, -usedEveryMs))]))
    .execute();
};

/** The day that spending belongs to (`2026-01-31`), in UTC. */
export const spendDay = (nowMs: number): string => new Date(nowMs).toISOString().slice(0, 10);

/** Of one day. */
export const addApiSpend = async (tx: Writing, spent: { readonly keyId: string; readonly day: string; readonly usd: number }): Promise<void> => {
  await tx.q
    .insertInto('api_spend')
    .values({ key_id: spent.keyId, day: spent.day, usd: spent.usd })
    .onConflict((conflict) => conflict.columns(['key_id', 'day']).doUpdateSet({ usd: sql<number>`api_spend.usd + ${spent.usd}` }))
    .execute();
};

export const apiSpend = async (db: Reading, of: { readonly keyId: string; readonly day: string }): Promise<number> =>
  (await db.q.selectFrom('api_spend').select('usd').where('key_id', '=', of.keyId).where('day', '=', of.day).executeTakeFirst())?.usd ?? 0;

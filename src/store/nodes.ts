import { hostname } from 'node:os';
import { releaseOwner } from './lanes/lanes.ts';
import { databaseNow, inMs } from './store.ts';
import type { Reading, Writing } from './store.ts';

export type NodeKind = 'gateway' | 'cli';

interface NewNode {
  readonly id: string;
  readonly kind: NodeKind;
  readonly pid: number;
}

const insertNode = (tx: Writing, { id, kind, pid }: NewNode) => tx.q.insertInto('nodes').values({ id, kind, pid, host: hostname(), started_at: tx.now, seen_at: tx.now });

export const registerNode = async (tx: Writing, node: NewNode): Promise<void> => {
  await insertNode(tx, node).execute();
};

/** A sign of life. One that was silent for so long that it was forgotten comes back with it. */
export const touchNode = async (tx: Writing, node: NewNode): Promise<void> => {
  await insertNode(tx, node)
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: tx.now }))
    .execute();
};

export const forgetNode = async (tx: Writing, id: string): Promise<void> => {
  await releaseOwner(tx, id);
  await tx.q.deleteFrom('nodes').where('id', '=', id).execute();
};

export interface LivingGateway {
  readonly host: string;
  readonly pid: number;
}

/** Gateways that have given a sign of life in this time. */
export const livingGateways = (db: Reading, silentMs: number): Promise<readonly LivingGateway[]> =>
  db.q.selectFrom('nodes').select(['host', 'pid']).where('kind', '=', 'gateway').where('seen_at', '>', inMs(db, -silentMs)).orderBy('host').orderBy('pid').execute();

/** When a gateway has last written something down for itself or for an account that it holds, and which these are. Undefined when it is not known. */
export const lastSignOf = async (db: Reading, { host, pid }: LivingGateway): Promise<{ readonly agoMs: number; readonly accounts: readonly string[] } | undefined> => {
  const node = await db.q.selectFrom('nodes').select(['id', 'seen_at']).where('kind', '=', 'gateway').where('host', '=', host).where('pid', '=', pid).orderBy('started_at', 'desc').executeTakeFirst();
  if (node === undefined) return undefined;
  const held = await db.q.selectFrom('accounts').select(['account', 'updated_at']).where('owner', '=', node.id).execute();
  const lastMs = Math.max(Number(node.seen_at), ...held.map(({ updated_at: updatedMs }) => Number(updatedMs)));
  return { agoMs: (await databaseNow(db)) - lastMs, accounts: held.map(({ account }) => account) };
};

/**
 * Frees what earlier gateways on this file left behind. Only for a caller that holds the home's lock: then no other gateway
 * can be alive here but the caller itself, and nobody has to wait for a lease to run out.
 */
export const buryGateways = async (tx: Writing, alive?: string): Promise<number> => {
  const gateways = await tx.q.selectFrom('nodes').select('id').where('kind', '=', 'gateway').execute();
  const dead = gateways.filter(({ id }) => id !== alive);
  let lanes = 0;
  for (const { id } of dead) {
    lanes += await releaseOwner(tx, id);
    await tx.q.deleteFrom('nodes').where('id', '=', id).execute();
    await tx.q.updateTable('accounts').set({ owner: null, lease_until: 0, state: 'stopped' }).where('owner', '=', id).execute();
  }
  return lanes;
};

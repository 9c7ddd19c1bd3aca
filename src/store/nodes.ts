import { hostname } from 'node:os';
import { releaseOwner } from './lanes.ts';
import type { Writing } from './store.ts';

export type NodeKind = 'gateway' | 'cli';

export const registerNode = async (tx: Writing, node: { id: string; kind: NodeKind; pid: number }): Promise<void> => {
  await tx.q.insertInto('nodes').values({ ...node, host: hostname(), started_at: tx.now, seen_at: tx.now }).execute();
};

export const touchNode = async (tx: Writing, id: string): Promise<void> => {
  await tx.q.updateTable('nodes').set({ seen_at: tx.now }).where('id', '=', id).execute();
};

export const forgetNode = async (tx: Writing, id: string): Promise<void> => {
  await releaseOwner(tx, id);
  await tx.q.deleteFrom('nodes').where('id', '=', id).execute();
};

/**
 * Frees what earlier gateways on this file left behind. Only for a caller that holds the home's lock: then no other gateway
 * can be alive here, and nobody has to wait for a lease to run out.
 */
export const buryGateways = async (tx: Writing): Promise<number> => {
  const dead = await tx.q.selectFrom('nodes').select('id').where('kind', '=', 'gateway').execute();
  let lanes = 0;
  for (const { id } of dead) {
    lanes += await releaseOwner(tx, id);
    await tx.q.deleteFrom('nodes').where('id', '=', id).execute();
    await tx.q.updateTable('accounts').set({ owner: null, lease_until: 0, state: 'stopped' }).where('owner', '=', id).execute();
  }
  return lanes;
};

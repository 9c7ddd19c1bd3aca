import { inMs } from '../store.ts';
import type { Reading, Writing } from '../store.ts';

export const accountStates = ['connecting', 'connected', 'degraded', 'waiting', 'conflict', 'refused', 'paused', 'disabled', 'stopped'] as const;

/** `degraded`: connected but silent for too long. `conflict`: somebody else uses the credential. `paused`: an admin wants it so. `disabled`: its configuration is wrong. */
export type AccountState = (typeof accountStates)[number];

export interface AccountStatus {
  readonly account: string;
  readonly state: AccountState;
  readonly identity: string | null;
  readonly name: string | null;
  readonly errorCode: string | null;
  readonly error: string | null;
  readonly attempts: number;
  readonly connectedAtMs: number | null;
  readonly lastEventAtMs: number | null;
  readonly lastAliveAtMs: number | null;
  readonly lastCallAtMs: number | null;
  /** When one that does not work is tried again. */
  readonly nextTryAtMs: number | null;
}

/** An account of which nothing is known but what is given. */
export const freshStatus = (account: string, known: Partial<AccountStatus> & Pick<AccountStatus, 'state'>): AccountStatus => ({
  account,
  identity: null,
  name: null,
  errorCode: null,
  error: null,
  attempts: 0,
  connectedAtMs: null,
  lastEventAtMs: null,
  lastAliveAtMs: null,
  lastCallAtMs: null,
  nextTryAtMs: null,
  ...known,
});

/** When an account last received something, or showed that it could; null for one that never has. */
export const lastHeardMs = ({ lastEventAtMs, lastAliveAtMs }: AccountStatus): number | null => Math.max(lastEventAtMs ?? 0, lastAliveAtMs ?? 0) || null;

/** When an account last received something, showed that it could, or was called with success; null for one that never has. */
export const lastEvidenceMs = (status: AccountStatus): number | null => Math.max(lastHeardMs(status) ?? 0, status.lastCallAtMs ?? 0) || null;

/** Replaces what is known about an account; the holder of its lease writes. */
export const saveStatus = async (tx: Writing, status: AccountStatus): Promise<void> => {
  const values = {
    state: status.state,
    identity: status.identity,
    name: status.name,
    error_code: status.errorCode,
    error: status.error,
    attempts: status.attempts,
    connected_at: status.connectedAtMs,
    last_event_at: status.lastEventAtMs,
    last_alive_at: status.lastAliveAtMs,
    last_call_at: status.lastCallAtMs,
    next_try_at: status.nextTryAtMs,
    updated_at: tx.now,
  };
  await tx.q
    .insertInto('accounts')
    .values({ account: status.account, ...values, owner: null, lease_until: 0 })
    .onConflict((conflict) => conflict.column('account').doUpdateSet(values))
    .execute();
};

export const allStatus = async (db: Reading): Promise<AccountStatus[]> => {
  const rows = await db.q.selectFrom('accounts').selectAll().orderBy('account').execute();
  return rows.map((row) => ({
    account: row.account,
    state: row.state as AccountState,
    identity: row.identity,
    name: row.name,
    errorCode: row.error_code,
    error: row.error,
    attempts: row.attempts,
    connectedAtMs: row.connected_at,
    lastEventAtMs: row.last_event_at,
    lastAliveAtMs: row.last_alive_at,
    lastCallAtMs: row.last_call_at,
    nextTryAtMs: row.next_try_at,
  }));
};

/** True when this owner may hold the connection: nobody else has it, or its holder went silent. */
export const leaseAccount = async (tx: Writing, lease: { account: string; owner: string; leaseMs: number }): Promise<boolean> => {
  const until = inMs(tx, lease.leaseMs);
  const row = await tx.q
    .insertInto('accounts')
    .values({
      account: lease.account,
      identity: null,
      name: null,
      state: 'connecting',
      error_code: null,
      error: null,
      attempts: 0,
      connected_at: null,
      last_event_at: null,
      last_alive_at: null,
      last_call_at: null,
      next_try_at: null,
      updated_at: tx.now,
      owner: lease.owner,
      lease_until: until,
    })
    .onConflict((conflict) =>
      conflict
        .column('account')
        .doUpdateSet({ owner: lease.owner, lease_until: until })
        .where((eb) => eb.or([eb('accounts.owner', 'is', null), eb('accounts.owner', '=', lease.owner), eb('accounts.lease_until', '<', tx.now)])),
    )
    .returning('account')
    .executeTakeFirst();
  return row !== undefined;
};

export const releaseAccount = async (tx: Writing, account: string, owner: string): Promise<void> => {
  await tx.q.updateTable('accounts').set({ owner: null, lease_until: 0 }).where('account', '=', account).where('owner', '=', owner).execute();
};

/** Accounts that are no longer configured are not shown any more. */
export const forgetAccounts = async (tx: Writing, keep: readonly string[]): Promise<void> => {
  let query = tx.q.deleteFrom('accounts');
  if (keep.length > 0) query = query.where('account', 'not in', [...keep]);
  await query.execute();
};

export const readCursor = async (db: Reading, at: { account: string; identity: string; name: string }): Promise<string | undefined> => {
  const row = await db.q.selectFrom('cursors').select('value').where('account', '=', at.account).where('identity', '=', at.identity).where('name', '=', at.name).executeTakeFirst();
  return row?.value;
};

export const writeCursor = async (tx: Writing, at: { account: string; identity: string; name: string }, value: string): Promise<void> => {
  await tx.q
    .insertInto('cursors')
    .values({ ...at, value, updated_at: tx.now })
    .onConflict((conflict) => conflict.columns(['account', 'identity', 'name']).doUpdateSet({ value, updated_at: tx.now }))
    .execute();
};

export const countDenial = async (tx: Writing, denial: { account: string; userId: string; chatId: string; kind: string; reason: string }): Promise<void> => {
  await tx.q
    .insertInto('denials')
    .values({ account: denial.account, user_id: denial.userId, chat_id: denial.chatId, kind: denial.kind, reason: denial.reason, count: 1, first_at: tx.now, last_at: tx.now })
    .onConflict((conflict) =>
      conflict.columns(['account', 'user_id', 'chat_id', 'kind', 'reason']).doUpdateSet((eb) => ({ count: eb('denials.count', '+', 1), last_at: tx.now })),
    )
    .execute();
};

export interface Denial {
  readonly account: string;
  readonly userId: string;
  readonly chatId: string;
  readonly kind: string;
  readonly reason: string;
  readonly count: number;
  readonly lastAtMs: number;
}

export const listDenials = async (db: Reading, limit: number): Promise<Denial[]> => {
  const rows = await db.q.selectFrom('denials').selectAll().orderBy('last_at', 'desc').limit(limit).execute();
  return rows.map((row) => ({ account: row.account, userId: row.user_id, chatId: row.chat_id, kind: row.kind, reason: row.reason, count: row.count, lastAtMs: row.last_at }));
};

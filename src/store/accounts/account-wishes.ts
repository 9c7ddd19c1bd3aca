import type { Reading, Writing } from '../store.ts';

/** What an admin wants of an account, whichever gateway holds it. It holds across restarts. */
export interface AccountWish {
  readonly paused: boolean;
  /** Grows with every wish to connect anew. */
  readonly restarts: number;
}

const none: AccountWish = { paused: false, restarts: 0 };

export const accountWish = async (db: Reading, account: string): Promise<AccountWish> => {
  const row = await db.q.selectFrom('account_wishes').select(['paused', 'restarts']).where('account', '=', account).executeTakeFirst();
  return row === undefined ? none : { paused: row.paused === 1, restarts: row.restarts };
};

/** The gateway that holds the account is told; one that misses it looks by itself every few seconds. */
export const wishForAccount = async (tx: Writing, wish: { readonly account: string; readonly want: 'pause' | 'resume' | 'restart'; readonly by: string }): Promise<void> => {
  const changed = { changed_by: wish.by, changed_at: tx.now };
  const paused = wish.want === 'pause' ? 1 : 0;
  const restarts = wish.want === 'restart' ? 1 : 0;
  await tx.q
    .insertInto('account_wishes')
    .values({ account: wish.account, paused, restarts, ...changed })
    .onConflict((conflict) =>
      conflict.column('account').doUpdateSet((eb) => (restarts === 1 ? { restarts: eb('account_wishes.restarts', '+', 1), paused: 0, ...changed } : { paused, ...changed })),
    )
    .execute();
  tx.notify('account', wish.account);
};

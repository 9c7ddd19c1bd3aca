import type { Target } from '../../core/message.ts';
import type { Reading, Writing } from '../store.ts';

/** The chat of an account that gets what nobody asked for. */
export interface Home {
  readonly account: string;
  readonly target: Target;
  readonly name: string | null;
}

/** Wins over `home_channel` in the configuration until it is removed. */
export const setHome = async (tx: Writing, home: Home & { readonly setBy: string }): Promise<void> => {
  const values = { target: JSON.stringify(home.target), name: home.name, set_by: home.setBy, set_at: tx.now };
  await tx.q
    .insertInto('homes')
    .values({ account: home.account, ...values })
    .onConflict((conflict) => conflict.column('account').doUpdateSet(values))
    .execute();
};

/** False when none was set. */
export const removeHome = async (tx: Writing, account: string): Promise<boolean> => {
  const result = await tx.q.deleteFrom('homes').where('account', '=', account).executeTakeFirst();
  return result.numDeletedRows === 1n;
};

/** What a person has chosen in a chat; the configuration has its own. */
export const findHome = async (db: Reading, account: string): Promise<Home | undefined> => {
  const row = await db.q.selectFrom('homes').select(['account', 'target', 'name']).where('account', '=', account).executeTakeFirst();
  return row === undefined ? undefined : { account: row.account, target: JSON.parse(row.target) as Target, name: row.name };
};

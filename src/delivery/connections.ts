import type { AccountName } from '../core/ids.ts';
import type { Adapter, Platform } from '../platforms/contract.ts';

/** What delivery has to know about accounts, looked up at the moment of sending. */
export interface Connections {
  /** Of the accounts that this gateway runs, whether they are connected or not. */
  names(): readonly AccountName[];
  /** Known also for an account that is no longer configured: what was said there still has its limits. */
  platform(account: AccountName): Platform | undefined;
  /** Undefined while the account has no usable adapter. */
  adapter(account: AccountName): Adapter | undefined;
  /** A call went through: evidence of life. */
  succeeded(account: AccountName): void;
}

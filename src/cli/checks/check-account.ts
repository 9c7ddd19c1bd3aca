import type { AccountConfig } from '../../config/read-accounts.ts';
import { PlatformError } from '../../core/errors.ts';
import type { PlatformErrorCode } from '../../core/errors.ts';
import { silentLogger } from '../../lib/logger.ts';
import type { AccountData, Identity, Platform } from '../../platforms/contract.ts';
import { accountData } from '../../store/accounts/account-data.ts';
import { withScratchStore } from '../home/scratch-store.ts';
import { withinTime } from '../process/within-time.ts';
import { accountFix } from './account-fix.ts';

export type CheckedAccount =
  | { readonly ok: true; readonly identity: Identity }
  | { readonly ok: false; readonly code: PlatformErrorCode; /** What the platform said, without a credential. */ readonly detail: string; readonly fix: string };

export interface AccountCheck {
  readonly platform: Platform;
  readonly account: AccountConfig;
  readonly timeoutMs: number;
  redact(text: string): string;
  /** What the account has kept so far; it is read and never changed. */
  readonly kept?: Pick<AccountData, 'get' | 'list'>;
}

/** What is kept stays as it is; whatever the adapter writes goes into a store that is thrown away. */
const overlay = (scratch: AccountData, kept: AccountCheck['kept']): AccountData =>
  kept === undefined
    ? scratch
    : {
        ...scratch,
        get: async (key) => (await scratch.get(key)) ?? kept.get(key),
        list: async (prefix) => [...new Map([...(await kept.list(prefix)), ...(await scratch.list(prefix))].map((entry) => [entry.key, entry])).values()],
      };

const failure = (check: AccountCheck, error: unknown): CheckedAccount => {
  const known = error instanceof PlatformError ? error : new PlatformError('unavailable', error instanceof Error ? error.message : String(error), { cause: error });
  return { ok: false, code: known.code, detail: check.redact(known.message), fix: accountFix(known.code, check.platform.name) };
};

/** Asks the platform who we are, as the gateway does before it connects. Nothing of the home is touched; rejects only when the caller aborts. */
export const checkAccount = (check: AccountCheck, signal: AbortSignal): Promise<CheckedAccount> =>
  withScratchStore(async (store, folder) => {
    const { platform, account } = check;
    try {
      const data = overlay(accountData(store, account.account), check.kept);
      const identity = await withinTime(check.timeoutMs, signal, async (inTime) => {
        const adapter = await platform.open({ account: account.account, options: account.options, log: silentLogger, data, home: folder, mediaFolder: folder });
        return adapter.identify(inTime);
      });
      return { ok: true, identity };
    } catch (error) {
      signal.throwIfAborted();
      return failure(check, error);
    }
  });

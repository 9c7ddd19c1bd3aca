import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import type { AccountData } from '../../src/platforms/contract.ts';
import { accountData } from '../../src/store/accounts/account-data.ts';
import type { Store } from '../../src/store/store.ts';
import { openStore } from '../../src/store/open.ts';

/** An account's data in a store below `folder`, or in one that goes away with it. */
export const openStoredData = async (folder?: string): Promise<AccountData & AsyncDisposable & { readonly store: Store }> => {
  const own = folder === undefined ? await mkdtemp(join(tmpdir(), 'hermes-data-')) : undefined;
  const store = await openStore({ path: join(folder ?? own ?? '', 'gateway.db'), clock: systemClock, log: silentLogger, checkIntegrity: false });
  return {
    ...accountData(store, 'web'),
    store,
    async [Symbol.asyncDispose]() {
      await store.close();
      if (own !== undefined) await rm(own, { recursive: true });
    },
  };
};

import type { AccountName } from '../core/ids.ts';
import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Directory } from '../platforms/contract.ts';
import { forgetSilentChannels, keepSpoken, newestSpoken, replaceListed, spokenFrom } from '../store/accounts/channels.ts';
import type { SpokenCursor } from '../store/accounts/channels.ts';
import type { Store } from '../store/store.ts';

const everyMs = 300_000;
const listTimeoutMs = 60_000;
const silentMs = 180 * 86_400_000;
/** Small enough that nobody waits noticeably for a batch. */
const batch = 200;

/** Brings in where people have spoken since it was last done. Costs as much as has happened since; whoever aborts it goes on there the next time. */
export const refreshSpoken = async (store: Store, signal?: AbortSignal): Promise<void> => {
  let from: SpokenCursor | undefined = await store.read(newestSpoken);
  while (from !== undefined) {
    if (signal?.aborted === true) return;
    const at: SpokenCursor = from;
    const { channels, next } = await store.read((db) => spokenFrom(db, at, batch));
    if (channels.length > 0) await store.write((tx) => keepSpoken(tx, channels), { patient: true });
    from = next;
  }
};

/** Takes over what the platform of an account names. Rejects with what the platform says. */
export const refreshListed = async (store: Store, of: { readonly account: AccountName; readonly directory: Directory }, signal: AbortSignal): Promise<void> => {
  const { account, directory } = of;
  const listed = await directory.list(AbortSignal.any([signal, AbortSignal.timeout(listTimeoutMs)]));
  const channels = listed.map(({ id, type, ...rest }) => ({ ...rest, chatId: id, chatType: type }));
  await store.write((tx) => replaceListed(tx, account, channels), { patient: true });
};

export interface KeepDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** What of the accounts that are connected here can name its chats. */
  directories(): ReadonlyMap<AccountName, Directory>;
}

/** Keeps the directory of chats fresh until aborted. Nothing that goes wrong here costs anybody a message. */
export const keepDirectory = async ({ store, clock, log, directories }: KeepDeps, signal: AbortSignal): Promise<void> => {
  do {
    try {
      await refreshSpoken(store, signal);
      await store.write((tx) => forgetSilentChannels(tx, silentMs), { patient: true });
    } catch (error) {
      log.error({ err: error }, 'directory.not_refreshed');
    }
    for (const [account, directory] of directories()) {
      try {
        await refreshListed(store, { account, directory }, signal);
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error, account }, 'directory.not_listed');
      }
    }
  } while (await slept(clock, everyMs, signal));
};

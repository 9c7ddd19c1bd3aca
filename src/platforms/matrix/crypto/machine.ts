import { randomUUID } from 'node:crypto';
import type * as Library from '@matrix-org/matrix-sdk-crypto-wasm';
import type { OlmMachine } from '@matrix-org/matrix-sdk-crypto-wasm';
import { PlatformError } from '../../../core/errors.ts';
import { newChains } from '../../../lib/chains.ts';
import type { AccountData } from '../../contract.ts';
import { restoreDatabase, trackDatabase } from './record-store.ts';
import type { Tracked } from './record-store.ts';

export type { Library, OlmMachine };

export interface Work {
  readonly olm: OlmMachine;
  readonly library: typeof Library;
}

/** The account's keys and ratchets. */
export interface Machine {
  /**
   * Works on the machine, alone. What it changed is durable when this resolves, so that whatever it answers may leave. When another
   * process has changed the keys meanwhile, the work is done again on what that has left; so it must not do anything but this.
   */
  change<T>(work: (work: Work) => Promise<T>): Promise<T>;
  /** Frees the memory; the next change loads the keys again. */
  close(): Promise<void>;
}

export interface MachineParts {
  readonly data: AccountData;
  readonly userId: string;
  readonly deviceId: string;
}

interface Loaded {
  readonly olm: OlmMachine;
  readonly name: string;
  readonly tracked: Tracked;
  version: string | undefined;
}

const databaseOf = (name: string): string => `${name}::matrix-sdk-crypto`;

/** Both are large, so they are loaded with the first account that encrypts. */
const loadLibrary = async (): Promise<typeof Library> => {
  if (globalThis.indexedDB === undefined) {
    const { default: _same, forceCloseDatabase: _unused, ...classes } = await import('fake-indexeddb');
    // The library finds its database where a browser has it.
    Object.assign(globalThis, classes);
  }
  const library = await import('@matrix-org/matrix-sdk-crypto-wasm');
  await library.initAsync();
  return library;
};

/** Ids of people as the library wants them; one that it cannot read is nobody's. */
export const userIds = (library: typeof Library, ids: readonly string[]): Library.UserId[] =>
  ids.flatMap((id) => {
    try {
      return [new library.UserId(id)];
    } catch {
      return [];
    }
  });

/** What the library throws says nothing about what it means for a message: it was not sent. */
const asPlatformError = (cause: unknown): PlatformError => (cause instanceof PlatformError ? cause : new PlatformError('unavailable', 'the keys of the account could not be used', { cause }));

const mostAttempts = 10;
/** An account that only writes now and then does not hold the memory meanwhile. */
const idleMs = 10 * 60_000;

export const newMachine = ({ data, userId, deviceId }: MachineParts): Machine => {
  const prefix = `crypto:${deviceId}:`;
  const versionKey = `crypto-version:${deviceId}`;
  const deviceKey = 'device';
  const chains = newChains();
  let loaded: Loaded | undefined;
  let idle: NodeJS.Timeout | undefined;

  const load = async (library: typeof Library): Promise<Loaded> => {
    // The version before the rows: rows that are newer than it make the next write fail, and be done again.
    await forgetOthers();
    const version = await data.get(versionKey);
    const rows = new Map((await data.list(prefix)).map(({ key, value }) => [key.slice(prefix.length), value]));
    const name = randomUUID();
    await restoreDatabase(databaseOf(name), rows);
    const olm = await library.OlmMachine.initialize(new library.UserId(userId), new library.DeviceId(deviceId), name);
    return { olm, name, version, tracked: trackDatabase(databaseOf(name), rows) };
  };

  /** Keys of a device that the account does not have any more open nothing. */
  const forgetOthers = async (): Promise<void> => {
    if ((await data.get(deviceKey)) === deviceId) return;
    for (const { key } of await data.list('crypto')) if (key !== versionKey && !key.startsWith(prefix)) await data.remove(key);
    await data.set(deviceKey, deviceId);
  };

  const unload = (): void => {
    const old = loaded;
    loaded = undefined;
    if (old === undefined) return;
    old.olm.close();
    indexedDB.deleteDatabase(databaseOf(old.name));
  };

  /** Answers false when another process was faster. */
  const save = async (current: Loaded): Promise<boolean> => {
    const { set, remove } = current.tracked.changes();
    if (set.size === 0 && remove.length === 0) return true;
    const to = String(Number(current.version ?? '0') + 1);
    const rows = new Map([...set].map(([row, value]) => [prefix + row, value]));
    const change = { key: versionKey, from: current.version, to, set: rows, remove: remove.map((row) => prefix + row) };
    const isSaved = await data.change(change).catch((cause: unknown) => {
      throw new PlatformError('unavailable', 'the keys of the account could not be stored', { cause });
    });
    if (!isSaved) return false;
    current.version = to;
    current.tracked.saved();
    return true;
  };

  const attempt = async <T>(work: (work: Work) => Promise<T>): Promise<{ readonly done: true; readonly run: () => T } | { readonly done: false }> => {
    const library = await loadLibrary();
    const current = (loaded ??= await load(library).catch((error: unknown) => {
      throw asPlatformError(error);
    }));
    const outcome = await work({ olm: current.olm, library }).then(
      (value) => () => value,
      (error: unknown) => () => {
        throw asPlatformError(error);
      },
    );
    if (await save(current)) return { done: true, run: outcome };
    unload();
    return { done: false };
  };

  return {
    change: (work) =>
      chains.run('', async () => {
        clearTimeout(idle);
        try {
          for (let attempts = 0; attempts < mostAttempts; attempts += 1) {
            const result = await attempt(work);
            if (result.done) return result.run();
          }
        } finally {
          idle = setTimeout(() => void chains.run('', async () => unload()), idleMs).unref();
        }
        throw new PlatformError('unavailable', 'another process keeps changing the keys of the account');
      }),
    close: () =>
      chains.run('', async () => {
        clearTimeout(idle);
        unload();
      }),
  };
};

import { createHash } from 'node:crypto';
import { PlatformError } from '../core/errors.ts';
import { serverOf } from '../lib/server-of.ts';
import type { Platform } from '../platforms/contract.ts';
import { takeNamedLock } from '../store/locks/named-lock.ts';

export interface CredentialUse {
  readonly platform: Platform;
  readonly options: unknown;
  readonly account: string;
  /** The home of the gateway that wants it. */
  readonly home: string;
}

/** The same credential at another server (a simulator, one's own) is another one. */
const nameOf = ({ platform, options }: CredentialUse): string | undefined => {
  const credential = platform.credential(options);
  if (credential === undefined) return undefined;
  const { base_url: address } = options as { readonly base_url?: unknown };
  return `${platform.name}-${createHash('sha256').update(JSON.stringify([typeof address === 'string' ? serverOf(address) : null, credential])).digest('hex').slice(0, 16)}`;
};

/**
 * Makes sure that no other gateway of this user on this machine receives with the same credential, in whatever home it runs; until disposed of.
 * Throws a `conflict` that names the other.
 */
export const holdCredential = (folder: string, use: CredentialUse): Disposable => {
  const name = nameOf(use);
  if (name === undefined) return { [Symbol.dispose]: () => undefined };
  const lock = takeNamedLock(folder, name, { home: use.home, account: use.account });
  if (lock.type === 'held') return { [Symbol.dispose]: () => lock.release() };
  const { home, pid } = lock.by;
  const holder = home === undefined ? 'another gateway on this machine' : `the gateway of ${home} (process ${pid ?? '?'})`;
  throw new PlatformError('conflict', `${holder} uses the same credential. One of the two needs another, or has to be stopped.`);
};

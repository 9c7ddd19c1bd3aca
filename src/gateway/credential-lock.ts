import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlatformError } from '../core/errors.ts';
import type { Platform } from '../platforms/contract.ts';
import { lockFile } from '../store/file-lock.ts';

export interface CredentialUse {
  readonly platform: Platform;
  readonly options: unknown;
  readonly account: string;
  /** The home of the gateway that wants it. */
  readonly home: string;
}

/** The same credential at another address (a simulator, a server of one's own) is another one. */
const nameOf = ({ platform, options }: CredentialUse): string | undefined => {
  const credential = platform.credential(options);
  if (credential === undefined) return undefined;
  const { base_url: address } = options as { readonly base_url?: unknown };
  return `${platform.name}-${createHash('sha256').update(JSON.stringify([address ?? null, credential])).digest('hex').slice(0, 16)}`;
};

/** What the holder wrote about itself; it may have died while it did. */
const holderIn = (path: string): string => {
  try {
    const { home, pid } = JSON.parse(readFileSync(path, 'utf8')) as { readonly home?: unknown; readonly pid?: unknown };
    return `the gateway of ${String(home)} (process ${String(pid)})`;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return 'another gateway on this machine';
    throw error;
  }
};

/**
 * Makes sure that no other gateway of this user on this machine receives with the same credential, in whatever home it runs; until disposed of.
 * Throws a `conflict` that names the other.
 */
export const holdCredential = (folder: string, use: CredentialUse): Disposable => {
  const name = nameOf(use);
  if (name === undefined) return { [Symbol.dispose]: () => undefined };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const about = join(folder, `${name}.json`);
  const lock = lockFile(join(folder, `${name}.lock`));
  if (lock === undefined) throw new PlatformError('conflict', `${holderIn(about)} uses the same credential. One of the two needs another, or has to be stopped.`);
  writeFileSync(about, JSON.stringify({ home: use.home, account: use.account, pid: process.pid }), { mode: 0o600 });
  return { [Symbol.dispose]: () => lock.release() };
};

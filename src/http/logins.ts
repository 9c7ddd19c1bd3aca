import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';

/** The part of a key/value store that logins need; `AccountData` has it. */
export interface LoginStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  /** Of several callers exactly one is told that there was a value. */
  remove(key: string): Promise<boolean>;
  list(prefix: string): Promise<readonly { readonly key: string; readonly value: string }[]>;
}

/** Who may use the page. Secrets are handed out once and kept only as hashes. */
export interface Logins {
  /** A token for a login link: good once, for ten minutes. */
  newLink(): Promise<string>;
  /** The secret of a new session, or undefined when the token is wrong, used or too old. */
  redeem(token: string): Promise<string | undefined>;
  isSession(secret: string): Promise<boolean>;
  revoke(secret: string): Promise<void>;
  revokeAll(): Promise<void>;
  /** Called with the hash of a session that this process has revoked. */
  onRevoked(listener: (sessionHash: string) => void): void;
}

export const linkLifeMs = 10 * 60_000;
export const sessionLifeMs = 30 * 24 * 3_600_000;

const newSecret = (): string => randomBytes(32).toString('base64url');

export const hashSecret = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** Takes the same time whatever differs, also the length. */
export const sameSecret = (a: string, b: string): boolean =>
  timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());

interface Kept {
  readonly untilMs: number;
  /** Hash of the owner's token that opened the session: when the token changes, the session ends. */
  readonly tokenHash?: string;
}

interface Kind {
  readonly prefix: string;
  readonly lifeMs: number;
  readonly max: number;
}

const links: Kind = { prefix: 'login-link:', lifeMs: linkLifeMs, max: 20 };
const sessions: Kind = { prefix: 'login-session:', lifeMs: sessionLifeMs, max: 100 };

const read = (value: string): Kept => JSON.parse(value) as Kept;

export const newLogins = (options: { readonly store: LoginStore; readonly clock: Clock; readonly token?: string | undefined }): Logins => {
  const { store, clock, token: ownerToken } = options;
  const ownerHash = ownerToken === undefined ? undefined : hashSecret(ownerToken);
  const listeners: ((sessionHash: string) => void)[] = [];

  const forget = async (key: string): Promise<void> => {
    await store.remove(key);
    if (key.startsWith(sessions.prefix)) for (const listener of listeners) listener(key.slice(sessions.prefix.length));
  };
  const makeRoom = async (kind: Kind): Promise<void> => {
    const rows = (await store.list(kind.prefix)).map(({ key, value }) => ({ key, untilMs: read(value).untilMs })).toSorted((a, b) => b.untilMs - a.untilMs);
    for (const [index, row] of rows.entries()) if (index >= kind.max - 1 || row.untilMs <= clock.now()) await forget(row.key);
  };
  const keep = async (kind: Kind, tokenHash?: string): Promise<string> => {
    await makeRoom(kind);
    const secret = newSecret();
    const kept: Kept = { untilMs: clock.now() + kind.lifeMs, ...(tokenHash !== undefined && { tokenHash }) };
    await store.set(`${kind.prefix}${hashSecret(secret)}`, JSON.stringify(kept));
    return secret;
  };
  const takeLink = async (token: string): Promise<boolean> => {
    const key = `${links.prefix}${hashSecret(token)}`;
    const value = await store.get(key);
    return value !== undefined && (await store.remove(key)) && read(value).untilMs > clock.now();
  };

  return {
    newLink: () => keep(links),
    async redeem(token) {
      if (ownerToken !== undefined && sameSecret(token, ownerToken)) return keep(sessions, ownerHash);
      return (await takeLink(token)) ? keep(sessions) : undefined;
    },
    async isSession(secret) {
      const value = await store.get(`${sessions.prefix}${hashSecret(secret)}`);
      if (value === undefined) return false;
      const { untilMs, tokenHash } = read(value);
      return untilMs > clock.now() && (tokenHash === undefined || tokenHash === ownerHash);
    },
    revoke: (secret) => forget(`${sessions.prefix}${hashSecret(secret)}`),
    async revokeAll() {
      for (const { key } of await store.list(sessions.prefix)) await forget(key);
    },
    onRevoked(listener) {
      listeners.push(listener);
    },
  };
};

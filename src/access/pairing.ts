import { randomBytes } from 'node:crypto';
import { addPending, lockPairing, pair, pendingPairings, removeExpired, removePending } from '../store/accounts/pairing.ts';
import type { PendingPairing } from '../store/accounts/pairing.ts';
import { clearLimit, readLimit, writeLimit } from '../store/limits.ts';
import type { Reading, Writing } from '../store/store.ts';
import { hashCode, isCode, newCode, readCode } from './pairing-code.ts';

export const pairingRules = { lifeMs: 3_600_000, askAgainMs: 600_000, maxPending: 3, maxFailures: 5, lockMs: 3_600_000 } as const;

/** An invitation by the owner: good on whichever account it is sent to. */
export const anyAccount = '*';

export interface Person {
  readonly account: string;
  readonly userId: string;
  readonly userName: string | null;
}

const failuresOf = (account: string): string => `pairing failures:${account}`;
const asksOf = (person: Person): string => `pairing asks:${person.account}:${person.userId}`;
const guessesOf = (person: Person): string => `pairing guesses:${person.account}:${person.userId}`;

/** How long no code is approved on an account any more, after too many wrong ones; 0 when it is not locked. */
export const lockedForMs = async (db: Reading, account: string): Promise<number> => {
  const failures = await readLimit(db, failuresOf(account));
  return failures.count >= pairingRules.maxFailures ? Math.max(0, failures.leftMs) : 0;
};

/**
 * Room for one more request. Three strangers must not keep everybody else out for an hour: when all places are taken, whoever has
 * waited longest makes room, but not before their own next try would be allowed.
 */
const makeRoom = async (tx: Writing, pending: readonly PendingPairing[]): Promise<boolean> => {
  if (pending.length < pairingRules.maxPending) return true;
  const oldest = pending[0];
  if (oldest === undefined || oldest.ageMs < pairingRules.askAgainMs) return false;
  await removePending(tx, [oldest.id]);
  return true;
};

/** A code for a stranger to show to an admin, or undefined when they have to wait. The code exists only in the answer. */
export const askToPair = async (tx: Writing, person: Person): Promise<string | undefined> => {
  await lockPairing(tx, person.account);
  if ((await lockedForMs(tx, person.account)) > 0) return undefined;
  if ((await readLimit(tx, asksOf(person))).leftMs > 0) return undefined;
  await writeLimit(tx, asksOf(person), { count: 1, forMs: pairingRules.askAgainMs });
  await removeExpired(tx, pairingRules.lifeMs);
  const pending = await pendingPairings(tx, { account: person.account, kind: 'request', lifeMs: pairingRules.lifeMs });
  await removePending(tx, pending.filter(({ userId }) => userId === person.userId).map(({ id }) => id));
  if (!(await makeRoom(tx, pending.filter(({ userId }) => userId !== person.userId)))) return undefined;
  const code = newCode();
  await addPending(tx, { id: randomBytes(8).toString('hex'), account: person.account, kind: 'request', userId: person.userId, userName: person.userName, ...hashCode(code) });
  return code;
};

/** A code that an admin hands to somebody, who then sends it to us. */
export const invite = async (tx: Writing, admin: Person): Promise<string> => {
  await lockPairing(tx, admin.account);
  await removeExpired(tx, pairingRules.lifeMs);
  const code = newCode();
  await addPending(tx, { id: randomBytes(8).toString('hex'), account: admin.account, kind: 'invite', userId: admin.userId, userName: admin.userName, ...hashCode(code) });
  return code;
};

export type Approval =
  | { readonly type: 'approved'; readonly person: Person }
  /** `locks`: no more codes are tried for a while. */
  | { readonly type: 'unknown'; readonly locks?: true }
  | { readonly type: 'locked'; readonly forMs: number };

const approve = async (tx: Writing, found: PendingPairing, approvedBy: string): Promise<Approval> => {
  const person: Person = { account: found.account, userId: found.userId, userName: found.userName };
  if ((await removePending(tx, [found.id])) === 0) return { type: 'unknown' };
  await pair(tx, { ...person, approvedBy });
  return { type: 'approved', person };
};

export interface ApprovalAttempt {
  /** Where it is made; its wrong codes are counted there. */
  readonly account: string;
  readonly text: string;
  readonly approvedBy: string;
  /** The owner decides about requests on every account. */
  readonly everywhere?: boolean;
}

/** Lets in whoever was given this code. Wrong codes lock the account's approvals for a while. */
export const approveCode = async (tx: Writing, attempt: ApprovalAttempt): Promise<Approval> => {
  await lockPairing(tx, attempt.account);
  const failures = await readLimit(tx, failuresOf(attempt.account));
  if (failures.count >= pairingRules.maxFailures && failures.leftMs > 0) return { type: 'locked', forMs: failures.leftMs };
  const code = readCode(attempt.text);
  const pending = await pendingPairings(tx, { ...(attempt.everywhere !== true && { account: attempt.account }), kind: 'request', lifeMs: pairingRules.lifeMs });
  const found = code === undefined ? undefined : pending.find((candidate) => isCode(candidate, code));
  if (found === undefined) {
    const count = failures.leftMs > 0 ? failures.count + 1 : 1;
    await writeLimit(tx, failuresOf(attempt.account), { count, forMs: pairingRules.lockMs });
    return { type: 'unknown', ...(count === pairingRules.maxFailures && { locks: true }) };
  }
  await clearLimit(tx, failuresOf(attempt.account));
  return approve(tx, found, attempt.approvedBy);
};

/** For lists in which an admin points at a request; there is nothing to guess, so a miss does not count. */
export const approveRequest = async (tx: Writing, request: { id: string; approvedBy: string }): Promise<Approval> => {
  const pending = await pendingPairings(tx, { kind: 'request', lifeMs: pairingRules.lifeMs });
  const found = pending.find(({ id }) => id === request.id);
  if (found === undefined) return { type: 'unknown' };
  await lockPairing(tx, found.account);
  return approve(tx, found, request.approvedBy);
};

/** `locks`: the guess was wrong, and nothing more is heard from this person for a while. */
export type Redemption = { readonly type: 'in'; readonly invitedBy: string } | { readonly type: 'no'; readonly locks?: true };

/** Whether what a stranger wrote is an invitation's code. Wrong guesses count against the one who guesses, nobody else. */
export const redeemInvite = async (tx: Writing, person: Person, text: string): Promise<Redemption> => {
  const code = readCode(text);
  if (code === undefined) return { type: 'no' };
  await lockPairing(tx, person.account);
  const guesses = await readLimit(tx, guessesOf(person));
  if (guesses.count >= pairingRules.maxFailures && guesses.leftMs > 0) return { type: 'no' };
  const pending = await pendingPairings(tx, { kind: 'invite', lifeMs: pairingRules.lifeMs });
  const found = pending.find(({ account, ...kept }) => (account === person.account || account === anyAccount) && isCode(kept, code));
  if (found === undefined) {
    const count = guesses.leftMs > 0 ? guesses.count + 1 : 1;
    await writeLimit(tx, guessesOf(person), { count, forMs: pairingRules.lockMs });
    return { type: 'no', ...(count === pairingRules.maxFailures && { locks: true }) };
  }
  await lockPairing(tx, found.account);
  if ((await removePending(tx, [found.id])) === 0) return { type: 'no' };
  await pair(tx, { ...person, approvedBy: found.userId });
  return { type: 'in', invitedBy: found.userId };
};

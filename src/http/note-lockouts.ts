import type { AuditedAct } from '../lib/audit-log.ts';
import type { Clock } from '../lib/clock.ts';

const windowMs = 3_600_000;

/** Nobody can fill a disk by guessing from many addresses. */
const mostInWindow = 20;

/** Writes down who guesses credentials: one line for each address that is locked out, and no more than a few in an hour. */
export const noteLockouts = (deps: { readonly clock: Clock; audit(act: AuditedAct): void }): ((what: string) => (address: string) => void) => {
  let sinceMs = Number.NEGATIVE_INFINITY;
  let count = 0;
  return (what) => (address) => {
    const nowMs = deps.clock.now();
    if (Math.abs(nowMs - sinceMs) >= windowMs) [sinceMs, count] = [nowMs, 0];
    count += 1;
    if (count > mostInWindow) return;
    const last = count === mostInWindow ? '; further ones of this hour are not listed' : '';
    deps.audit({ by: `somebody at ${address === '' ? 'an unknown address' : address}`, act: 'locked out', subject: `too many wrong ${what}${last}` });
  };
};

import { lastEvidenceMs } from '../store/accounts/accounts.ts';
import type { AccountStatus } from '../store/accounts/accounts.ts';

/** An account as programs read it, in `/ready` and in `hermes status --json`: by its traffic, not by what its settings promise. Times are ISO 8601; null is never. */
export interface AccountReport {
  readonly account: string;
  readonly state: string;
  /** What it is called on its platform. */
  readonly name: string | null;
  readonly identity: string | null;
  /** What kind of trouble it has; absent without trouble. */
  readonly code?: string;
  readonly detail?: string;
  /** Absent unless the whole is ready without it. */
  readonly required?: false;
  /** Tries to connect since it last was. */
  readonly attempts: number;
  readonly next_try: string | null;
  readonly connected_since: string | null;
  /** When the platform last answered or delivered: the newest of the three below. */
  readonly last_evidence: string | null;
  readonly last_event: string | null;
  readonly last_alive: string | null;
  readonly last_call: string | null;
}

/** A time as it is written for programs. */
export const isoTime = (atMs: number | null): string | null => (atMs === null ? null : new Date(atMs).toISOString());

export interface ReportedAs {
  /** In place of the state that is stored. */
  readonly state?: string;
  readonly isOptional?: boolean;
}

export const accountReport = (status: AccountStatus, { state = status.state, isOptional = false }: ReportedAs = {}): AccountReport => ({
  account: status.account,
  state,
  name: status.name,
  identity: status.identity,
  ...(status.errorCode !== null && { code: status.errorCode }),
  ...(status.error !== null && { detail: status.error }),
  ...(isOptional && { required: false }),
  attempts: status.attempts,
  next_try: isoTime(status.nextTryAtMs),
  connected_since: isoTime(status.connectedAtMs),
  last_evidence: isoTime(lastEvidenceMs(status)),
  last_event: isoTime(status.lastEventAtMs),
  last_alive: isoTime(status.lastAliveAtMs),
  last_call: isoTime(status.lastCallAtMs),
});

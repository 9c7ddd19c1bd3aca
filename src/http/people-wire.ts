import type { DeviceCheck } from '../platforms/contract.ts';

/** What the page and the gateway say to each other about people. */

export interface WirePending {
  readonly id: string;
  readonly account: string;
  readonly userId: string;
  readonly userName: string | null;
  readonly ageMs: number;
}

export interface WirePaired {
  readonly account: string;
  readonly userId: string;
  readonly userName: string | null;
  readonly approvedAtMs: number;
}

export interface PeopleAnswer {
  readonly pending: readonly WirePending[];
  readonly paired: readonly WirePaired[];
}

export interface InviteAnswer {
  readonly code: string;
  readonly lifeMs: number;
}

export interface DeviceChecksAnswer {
  readonly checks: readonly (DeviceCheck & { readonly account: string })[];
}

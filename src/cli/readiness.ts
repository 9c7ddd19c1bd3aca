import { accountReport } from '../http/account-report.ts';
import type { Readiness } from '../http/health.ts';
import type { AccountStatus } from '../store/accounts/accounts.ts';

/** What is asked about the accounts of a gateway. */
interface Asked {
  status(): readonly AccountStatus[];
  isRequired(account: string): boolean;
}

/** Ready is a gateway whose required accounts carry traffic. Undefined is one that still starts. */
export const readinessOf = (gateway: Asked | undefined): Readiness => {
  const statuses = gateway?.status() ?? [];
  // Another gateway on the same database receives for one that is held.
  const isWell = ({ state, errorCode }: AccountStatus): boolean => state === 'connected' || state === 'paused' || errorCode === 'held';
  return {
    ready: gateway !== undefined && statuses.every((status) => isWell(status) || !gateway.isRequired(status.account)),
    accounts: statuses.map((status) => accountReport(status, { isOptional: gateway?.isRequired(status.account) === false })),
  };
};

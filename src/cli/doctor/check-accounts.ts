import type { AccountConfig } from '../../config/read-accounts.ts';
import { platformOf } from '../../core/ids.ts';
import type { Platform } from '../../platforms/contract.ts';
import { platforms } from '../../platforms/registry.ts';
import { keptValues } from '../../store/accounts/account-data.ts';
import { allStatus } from '../../store/accounts/accounts.ts';
import type { AccountStatus } from '../../store/accounts/accounts.ts';
import { accountFix } from '../checks/account-fix.ts';
import { checkAccount } from '../checks/check-account.ts';
import { span } from '../environment.ts';
import { askable } from './examination.ts';
import type { Examination } from './examination.ts';
import { broken, ok, skipped, warning } from './finding.ts';
import type { Finding } from './finding.ts';

/** Evidence that is younger than this needs no further call. */
const freshMs = 180_000;

const hasFailed = ({ state }: AccountStatus): boolean => ['degraded', 'waiting', 'conflict', 'refused'].includes(state);

/**
 * What the running gateway knows about the account. A connection that carries traffic proves its credential, and some platforms would take a second one
 * amiss; one that does not work there does not work, although the credential may.
 */
const evidence = (examined: Examination, status: AccountStatus | undefined): Finding | undefined => {
  if (!examined.isRunning || examined.silence !== undefined || status === undefined) return undefined;
  if (hasFailed(status) && status.errorCode !== null && status.errorCode !== 'held') {
    return broken(`${status.account} does not receive: ${status.state}, ${status.error ?? status.errorCode}`, accountFix(status.errorCode, platformOf(status.account)));
  }
  if (status.state !== 'connected') return undefined;
  const quietMs = examined.clock.now() - Math.max(status.lastAliveAtMs ?? 0, status.lastEventAtMs ?? 0, status.lastCallAtMs ?? 0);
  return quietMs > freshMs ? undefined : ok(`${status.account} is connected as ${status.name ?? status.identity ?? 'somebody'}, last sign of life ${span(quietMs)} ago`);
};

const checkOne = async (examined: Examination, account: AccountConfig & { readonly at: Platform }, signal: AbortSignal): Promise<Finding> => {
  const database = askable(examined);
  const kept = database === undefined ? undefined : keptValues(database, account.account);
  const checked = await checkAccount({ platform: account.at, account, timeoutMs: examined.answerMs, redact: examined.redact, ...(kept !== undefined && { kept }) }, signal);
  if (checked.ok) return ok(`${account.account}: the credential of ${checked.identity.handle ?? checked.identity.name} works`);
  const text = `${account.account}: ${checked.detail}`;
  return checked.code === 'rate_limited' ? warning(text, checked.fix) : broken(text, checked.fix);
};

/** Whether each account's credential is accepted by its platform. */
export const checkAccounts = async (examined: Examination, signal: AbortSignal): Promise<readonly Finding[]> => {
  const { config } = examined;
  if (config === undefined) return [skipped('The configuration cannot be used')];
  const accounts = config.accounts.flatMap((account) => {
    const at = platforms.find(({ name }) => name === account.platform);
    return at === undefined || at.alwaysOn ? [] : [{ ...account, at }];
  });
  if (accounts.length === 0) return [ok('The page and the terminal need no credential; hermes setup platform adds a messenger')];
  const known = (await askable(examined)?.read(allStatus)) ?? [];
  return Promise.all(
    accounts.map(async (account) => {
      const proved = evidence(examined, known.find((status) => status.account === account.account));
      if (proved !== undefined) return proved;
      return examined.offline ? skipped(`${account.account} was not asked, because of --offline`) : checkOne(examined, account, signal);
    }),
  );
};

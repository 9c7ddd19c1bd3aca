import type { AccountConfig } from '../../config/read-accounts.ts';
import { formatProblem } from '../../config/problem.ts';
import type { Problem } from '../../config/problem.ts';
import type { Identity, Platform } from '../../platforms/contract.ts';
import { checkAccount } from '../checks/check-account.ts';
import { accountPath } from './account-settings.ts';
import { checkTimeoutMs } from './run.ts';
import type { CheckNote, SetupRun } from './run.ts';

export type DraftedAccount = { readonly ok: true; readonly account: AccountConfig } | { readonly ok: false; readonly problems: readonly Problem[] };

/** The account as the gateway would run it with the drafted files. */
export const draftedAccount = (run: SetupRun, name: string): DraftedAccount => {
  const loaded = run.draft.load();
  if (!loaded.ok) return { ok: false, problems: loaded.problems };
  const account = loaded.accounts.find((candidate) => candidate.account === name);
  if (account !== undefined) return { ok: true, account };
  const problems = loaded.disabled.filter((disabled) => disabled.account === name).flatMap((disabled) => disabled.problems);
  return { ok: false, problems: problems.length > 0 ? problems : [{ code: 'invalid', path: accountPath(name), message: 'is switched off (enabled: false)' }] };
};

export const problemText = (problems: readonly Problem[]): string => problems.map(formatProblem).join('\n');

export const nameOf = ({ handle, name }: Identity): string => (handle === undefined ? name : `@${handle}`);

/** Asks the platform whether the credential is good. Nothing is asked with `--skip-checks`. */
export const checkDrafted = async (run: SetupRun, platform: Platform, account: AccountConfig): Promise<{ readonly note: CheckNote; readonly identity?: Identity }> => {
  if (run.skipChecks) return { note: { what: account.account, outcome: 'skipped', text: `${platform.label} was not asked.` } };
  const checked = await checkAccount({ platform, account, timeoutMs: checkTimeoutMs, redact: run.redact }, run.signal);
  if (checked.ok) return { note: { what: account.account, outcome: 'works', text: `${platform.label} knows it as ${nameOf(checked.identity)}.` }, identity: checked.identity };
  return { note: { what: account.account, outcome: 'fails', text: `${platform.label}: ${checked.detail}`, fix: checked.fix } };
};

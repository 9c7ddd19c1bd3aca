import type { AccountConfig } from '../../config/read-accounts.ts';
import { platforms } from '../../platforms/registry.ts';
import { accountPath } from './account-settings.ts';
import { draftedAccount, problemText } from './account-check.ts';
import type { SetupRun } from './run.ts';

/** Accounts on which somebody has to be named before anybody is heard. */
export const guardedAccounts = (run: SetupRun): readonly AccountConfig[] => {
  const loaded = run.draft.load();
  return loaded.ok ? loaded.accounts.filter(({ platform }) => platforms.find(({ name }) => name === platform)?.authenticatesSenders === false) : [];
};

/** Whether a list lets anybody in on the account; who was paired is in the store and not asked here. */
export const hasPeople = (run: SetupRun, { common }: AccountConfig): boolean => {
  const loaded = run.draft.load();
  const everywhere = loaded.ok && (loaded.sections.access.allow_all_users || loaded.sections.access.allowed_users.length > 0);
  return everywhere || common.allow_all_users || [common.allowed_users, common.group_allowed_chats, common.group_allowed_users].some((list) => list.length > 0);
};

/** Why an id cannot be one; undefined when it may be. */
export const idProblem = (id: string): string | undefined => {
  if (id.trim() === '') return 'This is needed.';
  if (/^@[^:\s]+$/.test(id.trim())) return 'That is a name, and names can be taken over. The id counts: whoever writes to the bot as a stranger is told theirs.';
  return /\s/.test(id.trim()) ? 'An id has no spaces.' : undefined;
};

/** Names people on an account. Answers why it cannot be done. */
export const allowUsers = (run: SetupRun, account: string, ids: readonly string[]): string | undefined => {
  const drafted = draftedAccount(run, account);
  if (!drafted.ok) return problemText(drafted.problems);
  const wanted = [...new Set([...drafted.account.common.allowed_users, ...ids.map((id) => id.trim())])];
  const path = `${accountPath(account)}.allowed_users`;
  const refused = run.draft.set([{ path, value: JSON.stringify(wanted) }]);
  if (refused !== undefined) return refused;
  const now = draftedAccount(run, account);
  if (now.ok && wanted.every((id) => now.account.common.allowed_users.includes(id))) return undefined;
  return `${run.draft.variableOf(path) ?? path} in the environment or .env wins over config.yaml. Change it there, or remove it.`;
};

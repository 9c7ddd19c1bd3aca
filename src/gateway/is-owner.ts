import type { Accounts } from './accounts.ts';
import { apiAccount, ownerCaller } from './api/place.ts';

/** Whether the gateway belongs to this person: by the lists of the account, or by sitting at one of the gateway's own doors. */
export const isOwner = (accounts: Accounts, { account, userId }: { readonly account: string; readonly userId: string }): boolean => {
  const known = accounts.find(account);
  if (known === undefined) return account === apiAccount && userId === ownerCaller;
  const { allowed_users, allow_admin_from = [] } = known.common;
  return (known.platform.authenticatesSenders && known.platform.surface !== 'machine') || allowed_users.includes(userId) || allow_admin_from.includes(userId);
};

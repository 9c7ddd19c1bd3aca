import type { ChatType } from '../core/message.ts';
import type { AccountOptions } from '../platforms/account-options.ts';

export type CommandRules = Pick<AccountOptions, 'allowed_users' | 'allow_admin_from' | 'group_allow_admin_from' | 'user_allowed_commands' | 'group_user_allowed_commands'>;

export type Role = 'user' | 'admin';

export interface CommandAccess {
  readonly role: Role;
  /** Proved by the platform to be the owner, who decides for every account. */
  readonly isOwner: boolean;
  /** Whether this person may let others in. */
  readonly mayPair: boolean;
  /** `names` are a command's name and its aliases. */
  mayRun(names: readonly string[]): boolean;
}

export interface Commander {
  readonly rules: CommandRules;
  readonly chatType: ChatType;
  /** Every id of the person; empty when the platform does not say who it is. */
  readonly userIds: readonly string[];
  /** The platform has proved that this is the owner (the page's login, the terminal). */
  readonly authenticated: boolean;
}

/** What everybody may run who may speak at all. */
const floor: readonly string[] = ['help', 'whoami'];

const anyOf = (ids: readonly string[], list: readonly string[]): boolean => ids.some((id) => list.includes(id));

/**
 * Who may run which command. Without an admin list for the scope nobody is restricted; with one, others run what is listed for them.
 * Without a list, only people whom the owner has named by id may let others in.
 */
export const commandAccess = ({ rules, chatType, userIds, authenticated }: Commander): CommandAccess => {
  if (authenticated) return { role: 'admin', isOwner: true, mayPair: true, mayRun: () => true };
  const inPrivate = chatType === 'dm';
  const admins = inPrivate ? rules.allow_admin_from : rules.group_allow_admin_from;
  if (admins === undefined) return { role: 'user', isOwner: false, mayPair: anyOf(userIds, rules.allowed_users), mayRun: () => true };
  if (anyOf(userIds, admins)) return { role: 'admin', isOwner: false, mayPair: true, mayRun: () => true };
  const listed = inPrivate ? (rules.user_allowed_commands ?? rules.group_user_allowed_commands) : rules.group_user_allowed_commands;
  const allowed = [...floor, ...(listed ?? [])];
  return { role: 'user', isOwner: false, mayPair: false, mayRun: (names) => anyOf(names, allowed) };
};

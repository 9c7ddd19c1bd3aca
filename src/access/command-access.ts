import type { ChatType } from '../core/message.ts';
import type { AccountOptions } from '../platforms/account-options.ts';

export type CommandRules = Pick<AccountOptions, 'allowed_users' | 'allow_admin_from' | 'group_allow_admin_from' | 'user_allowed_commands' | 'group_user_allowed_commands'>;

/** `guest`: may speak, and run what is for everybody. `user`: runs what is for users here. `admin`: runs everything. */
export type Role = 'guest' | 'user' | 'admin';

/** A command as its rules see it. */
export interface RuledCommand {
  readonly name: string;
  readonly aliases: readonly string[];
  /** Who may run it at least; `user` when left out. */
  readonly role?: Role;
}

export interface CommandAccess {
  readonly role: Role;
  /** Proved by the platform to be the owner, who decides for every account. */
  readonly isOwner: boolean;
  /** Whether this person decides what concerns others: lets people in, restarts, switches for everybody. */
  readonly mayAdminister: boolean;
  mayRun(command: RuledCommand): boolean;
}

export interface Commander {
  readonly rules: CommandRules;
  readonly chatType: ChatType;
  /** Every id of the person; empty when the platform does not say who it is. */
  readonly userIds: readonly string[];
  /** The platform has proved that this is the owner (the page's login, the terminal). */
  readonly authenticated: boolean;
}

const anyOf = (ids: readonly string[], list: readonly string[]): boolean => ids.some((id) => list.includes(id));

const admin = (isOwner: boolean): CommandAccess => ({ role: 'admin', isOwner, mayAdminister: true, mayRun: () => true });

/**
 * Who may run which command. With an admin list for the scope, others run what is listed for them, and what is for guests. Without one nobody is
 * restricted but in what concerns others: that is for people whom the owner has named by id.
 */
export const commandAccess = ({ rules, chatType, userIds, authenticated }: Commander): CommandAccess => {
  if (authenticated) return admin(true);
  const inPrivate = chatType === 'dm';
  const admins = inPrivate ? rules.allow_admin_from : rules.group_allow_admin_from;
  if (admins === undefined) {
    const mayAdminister = anyOf(userIds, rules.allowed_users);
    return { role: 'user', isOwner: false, mayAdminister, mayRun: (command) => command.role !== 'admin' || mayAdminister };
  }
  if (anyOf(userIds, admins)) return admin(false);
  const listed = (inPrivate ? (rules.user_allowed_commands ?? rules.group_user_allowed_commands) : rules.group_user_allowed_commands) ?? [];
  const mayRun = (command: RuledCommand): boolean => command.role === 'guest' || anyOf([command.name, ...command.aliases], listed);
  return { role: listed.length === 0 ? 'guest' : 'user', isOwner: false, mayAdminister: false, mayRun };
};

/** For a place that is gone: nobody has a right there. */
export const noAccess: CommandAccess = { role: 'guest', isOwner: false, mayAdminister: false, mayRun: () => false };

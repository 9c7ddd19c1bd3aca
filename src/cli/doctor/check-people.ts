import { anyAccount, lockedForMs, pairingRules } from '../../access/pairing.ts';
import type { AccountConfig } from '../../config/read-accounts.ts';
import { platforms } from '../../platforms/registry.ts';
import { listPaired, pendingPairings } from '../../store/accounts/pairing.ts';
import type { Config } from '../configuration/settings.ts';
import { span } from '../environment.ts';
import { askable } from './examination.ts';
import type { Examination } from './examination.ts';
import { counted, ok, skipped, warning } from './finding.ts';
import type { Finding } from './finding.ts';

const openTo = (config: Config, { account, common }: AccountConfig, codes: { readonly used: number; readonly open: number }): Finding => {
  const { access } = config.sections;
  const close = 'Switch it off unless you mean it, and name people instead: hermes access allow';
  if (common.allow_all_users) return warning(`${account}: everybody who finds it may talk to the agent (allow_all_users)`, `${close} ${account} ID`);
  if (access.allow_all_users) return warning(`${account}: everybody who finds it may talk to the agent (access.allow_all_users)`, `${close} ${account} ID`);
  const people = new Set([...common.allowed_users, ...common.group_allowed_users, ...access.allowed_users]).size + codes.used;
  const groups = common.group_allowed_chats.length;
  const roles = common.allowed_roles.length;
  const others = [...(groups === 0 ? [] : [`everybody in ${counted(groups, 'group', 'groups')}`]), ...(roles === 0 ? [] : [`whoever has one of ${counted(roles, 'role', 'roles')}`])];
  if (people + others.length === 0 && codes.open > 0) return warning(`${account}: nobody may talk to the agent yet; an invitation waits for its code`, `Send the code to the bot; hermes setup owner makes another`);
  if (people + others.length === 0) return warning(`${account}: nobody may talk to the agent`, `hermes setup owner, or hermes access allow ${account} ID`);
  return ok(`${account}: ${[counted(people, 'person', 'people'), ...others].join(' and ')} may talk to the agent`);
};

const bots = ({ account, common }: AccountConfig): readonly Finding[] => (common.allow_bots === 'all' ? [warning(`${account}: every other bot is heard (allow_bots: all)`, 'allow_bots: mentions hears only those that name this one')] : []);

/** Who may speak on each account, and whether approvals are locked. */
export const checkPeople = async (examined: Examination): Promise<readonly Finding[]> => {
  const { config } = examined;
  if (config === undefined) return [skipped('The configuration cannot be used')];
  const accounts = config.accounts.filter(({ platform }) => platforms.find(({ name }) => name === platform)?.authenticatesSenders === false);
  if (accounts.length === 0) return [ok('Only you, on the page and in the terminal')];
  const database = askable(examined);
  const paired = (await database?.read(listPaired)) ?? [];
  const invitations = (await database?.read((db) => pendingPairings(db, { kind: 'invite', lifeMs: pairingRules.lifeMs }))) ?? [];
  const codesOf = (name: string): { readonly used: number; readonly open: number } => ({ used: paired.filter(({ account }) => account === name).length, open: invitations.filter(({ account }) => account === name || account === anyAccount).length });
  const locks = await Promise.all(accounts.map(async ({ account }) => ({ account, forMs: (await database?.read((db) => lockedForMs(db, account))) ?? 0 })));
  return [
    ...accounts.flatMap((account) => [openTo(config, account, codesOf(account.account)), ...bots(account)]),
    ...locks.filter(({ forMs }) => forMs > 0).map(({ account, forMs }) => warning(`${account}: approvals by code are locked for ${span(forMs)}, after too many wrong codes`, `Wait, or name people by id: hermes access allow ${account} ID`)),
  ];
};

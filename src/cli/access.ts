import { Command } from 'commander';
import type { LoadedConfig } from '../config/evaluate.ts';
import { resolveHome } from '../config/home.ts';
import { formatProblem } from '../config/problem.ts';
import { setSetting } from '../config/settings/set-setting.ts';
import { ConfigError } from '../core/errors.ts';
import { platformOf } from '../core/ids.ts';
import { platforms } from '../platforms/registry.ts';
import { listDenials } from '../store/accounts/accounts.ts';
import { listPaired } from '../store/accounts/pairing.ts';
import { accessTestCommand } from './access-test.ts';
import { requireConfig, sections } from './configuration/settings.ts';
import type { Config } from './configuration/settings.ts';
import { json, span, table } from './environment.ts';
import type { Terminal } from './environment.ts';
import { lookIntoStore } from './home/open-home.ts';

const settingPath = (account: string): string => {
  const platform = platformOf(account);
  return account === platform ? `platforms.${platform}.allowed_users` : `platforms.${platform}.accounts.${account.slice(platform.length + 1)}.allowed_users`;
};

const listed = (config: Pick<Config, 'accounts'>, account: string): readonly string[] => {
  const found = config.accounts.find((candidate) => candidate.account === account);
  if (found === undefined) throw new ConfigError(`There is no account ${account}. Configured: ${config.accounts.map((one) => one.account).join(', ')}`);
  return found.common.allowed_users;
};

/** Changes the list as it stands in that moment, and makes sure that what was wanted is what counts now. */
const change = async (terminal: Terminal, account: string, wanted: { readonly user: string; readonly isIn: boolean }): Promise<void> => {
  const { user, isIn } = wanted;
  const value = (before: LoadedConfig): string => {
    if (!before.ok) throw new ConfigError('The configuration has been changed meanwhile and cannot be used any more; hermes config check says why.');
    const ids = listed(before, account);
    return JSON.stringify(isIn ? [...new Set([...ids, user])] : ids.filter((id) => id !== user));
  };
  const outcome = await setSetting({ home: resolveHome(terminal.env), env: terminal.env, sections, platforms, commands: terminal.commands, path: settingPath(account), value });
  if (!outcome.ok) throw new ConfigError(outcome.problems.map(formatProblem).join('\n'));
  if (listed(await requireConfig(terminal), account).includes(user) !== isIn) {
    throw new ConfigError(`config.yaml was changed, but ${platformOf(account).toUpperCase()}_ALLOWED_USERS in the environment or .env wins over it. Change it there, or remove it.`);
  }
};

const allow = async (terminal: Terminal, account: string, user: string): Promise<void> => {
  const ids = listed(await requireConfig(terminal), account);
  if (!ids.includes(user)) await change(terminal, account, { user, isIn: true });
  terminal.write(`${user} may talk to the agent on ${account}.\n`);
};

const deny = async (terminal: Terminal, account: string, user: string): Promise<void> => {
  const ids = listed(await requireConfig(terminal), account);
  if (!ids.includes(user)) throw new ConfigError(`${user} is not in the list of ${account}. hermes access test --platform ${account} --user ${user} says what lets them in.`);
  await change(terminal, account, { user, isIn: false });
  terminal.write(`${user} is no longer in the list of ${account}.\n`);
};

const show = async (terminal: Terminal, flags: { json?: true }): Promise<void> => {
  const { accounts, sections: settings } = await requireConfig(terminal);
  const { paired, denials } = await lookIntoStore(terminal, (store) => store.read(async (db) => ({ paired: await listPaired(db), denials: await listDenials(db, 50) })));
  const rules = accounts.map(({ account, platform, common }) => ({
    account,
    everybody: common.allow_all_users || settings.access.allow_all_users,
    login: platforms.find(({ name }) => name === platform)?.authenticatesSenders === true,
    allowed: [...common.allowed_users, ...settings.access.allowed_users],
    groups: common.group_allowed_chats,
    roles: common.allowed_roles,
    admins: common.allow_admin_from ?? null,
    paired: paired.filter((person) => person.account === account).map(({ userId }) => userId),
  }));
  if (flags.json === true) {
    terminal.write(json({ accounts: rules, denials }));
    return;
  }
  const who = (rule: (typeof rules)[number]): string => {
    if (rule.login) return 'whoever is logged in';
    if (rule.everybody) return 'everybody';
    const people = [...rule.allowed, ...rule.paired.map((id) => `${id} (by code)`), ...rule.groups.map((id) => `all in group ${id}`), ...rule.roles.map((id) => `all with role ${id}`)];
    return people.length === 0 ? 'nobody' : people.join(', ');
  };
  const lines = rules.map((rule) => [rule.account, who(rule), rule.admins === null ? '' : `admins: ${rule.admins.join(', ')}`]);
  const denied = denials.map((denial) => [denial.account, denial.userId, denial.kind, `${denial.count}×`, `${span(Date.now() - denial.lastAtMs)} ago`, denial.reason]);
  terminal.write(`${table(lines)}\n\n${denied.length === 0 ? 'Nobody was turned away.' : `Turned away\n${table(denied)}`}\n`);
};

export const accessCommand = (terminal: Terminal): Command => {
  const command = new Command('access').description('See and change who may talk to the agent').addHelpText('after', '\nExamples:\n  hermes access list\n  hermes access allow telegram 1001\n  hermes access test --platform telegram --user 1001    whether somebody is let in, and why');
  command.command('list').description('Who may talk to the agent, and who was turned away').option('--json', 'print JSON').action((flags: { json?: true }) => show(terminal, flags));
  command.command('allow').description("Add somebody to an account's list in config.yaml").argument('<account>', 'such as telegram').argument('<user>', 'id').action((account: string, user: string) => allow(terminal, account, user));
  command.command('deny').description("Take somebody off an account's list in config.yaml").argument('<account>').argument('<user>', 'id').action((account: string, user: string) => deny(terminal, account, user));
  command.addCommand(accessTestCommand(terminal));
  return command;
};

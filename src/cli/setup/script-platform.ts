import { nearest } from '../../config/settings/nearest.ts';
import { ConfigError } from '../../core/errors.ts';
import { platformOf } from '../../core/ids.ts';
import type { Platform } from '../../platforms/contract.ts';
import { sections } from '../configuration/settings.ts';
import { accountPath, accountSettings, settingChange } from './account-settings.ts';
import { checkDrafted, draftedAccount, problemText } from './account-check.ts';
import { messengers } from './ask-platform.ts';
import type { Change } from './draft.ts';
import { readAssignment } from './flags.ts';
import type { SetupFlags } from './flags.ts';
import { allowUsers, guardedAccounts, idProblem } from './people.ts';
import type { SetupRun } from './run.ts';

/** The platform of an account such as `telegram` or `telegram@work`. */
export const messengerOf = (account: string): Platform => {
  const name = platformOf(account);
  const found = messengers().find((platform) => platform.name === name);
  if (found !== undefined) return found;
  const known = messengers().map((platform) => platform.name);
  const meant = nearest(name, known);
  throw new ConfigError(`--platform is one of ${known.join(', ')}, not ${name}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`);
};

const change = (run: SetupRun, changes: readonly Change[]): void => {
  const refused = run.draft.set(changes);
  if (refused !== undefined) throw new ConfigError(refused);
};

/** A bare key is one of the account; anything else is a path as in `hermes config set`. */
const assignment = (run: SetupRun, account: string | undefined, text: string): Change => {
  const { key, value } = readAssignment(text);
  const isPath = key.startsWith('platforms.') || sections.some(({ name }) => key === name || key.startsWith(`${name}.`));
  if (isPath) return { path: key, value };
  if (account === undefined) throw new ConfigError(`--set ${key}=… needs --platform, or the whole path of the setting, such as http.port.`);
  const setting = accountSettings(messengerOf(account)).find((candidate) => candidate.key === key);
  if (setting !== undefined) return settingChange(run.draft, { account, setting }, value);
  return { path: `${accountPath(account)}.${key}`, value };
};

/** Secrets of the account that stand in the environment, for `.env`. */
const fromEnvironment = (run: SetupRun, account: string): readonly Change[] =>
  accountSettings(messengerOf(account)).flatMap((setting) => {
    const path = `${accountPath(account)}.${setting.key}`;
    const variable = setting.isSecret ? run.draft.variableOf(path) : undefined;
    const value = variable === undefined ? undefined : run.draft.inEnvironment(variable);
    return value === undefined ? [] : [{ path, value }];
  });

/** Everything that `--set` and `--platform` say. */
export const scriptSettings = (run: SetupRun, flags: SetupFlags): void => {
  const { platform: account } = flags;
  const enabled = account === undefined ? [] : [{ path: `${accountPath(account)}.enabled`, value: 'true' }];
  const kept = account === undefined || flags.saveEnv !== true ? [] : fromEnvironment(run, account);
  change(run, [...enabled, ...flags.set.map((text) => assignment(run, account, text)), ...kept]);
};

/** Asks the platform whether the account that was named can log in. */
export const scriptAccount = async (run: SetupRun, account: string): Promise<void> => {
  const platform = messengerOf(account);
  const drafted = draftedAccount(run, account);
  if (!drafted.ok) throw new ConfigError(problemText(drafted.problems));
  const { note, identity } = await checkDrafted(run, platform, drafted.account);
  run.checks.push(note);
  run.account = { name: account, label: platform.label, ...(identity !== undefined && { identity }) };
};

const accountFor = (run: SetupRun): string => {
  if (run.account !== undefined) return run.account.name;
  const [only, ...others] = guardedAccounts(run);
  if (only !== undefined && others.length === 0) {
    run.account = { name: only.account, label: messengerOf(only.account).label };
    return only.account;
  }
  throw new ConfigError(only === undefined ? 'There is no account on which anybody has to be let in. Pass --platform.' : 'Say on which account, with --platform.');
};

/** Lets in whom the flags name. */
export const scriptOwner = (run: SetupRun, flags: SetupFlags): void => {
  if (flags.allowUser.length === 0 && flags.invite !== true) return;
  const account = accountFor(run);
  for (const id of flags.allowUser) {
    const problem = idProblem(id);
    if (problem !== undefined) throw new ConfigError(`--allow-user ${id}: ${problem}`);
  }
  const refused = flags.allowUser.length === 0 ? undefined : allowUsers(run, account, flags.allowUser);
  if (refused !== undefined) throw new ConfigError(refused);
  run.invite = flags.invite === true;
};

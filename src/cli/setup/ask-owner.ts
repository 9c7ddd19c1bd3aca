import { answersStrangers } from '../../access/answers-strangers.ts';
import type { AccountConfig } from '../../config/read-accounts.ts';
import { platforms } from '../../platforms/registry.ts';
import { allowUsers, guardedAccounts, hasPeople, idProblem } from './people.ts';
import type { Prompts } from './prompts.ts';
import type { SetupRun } from './run.ts';

type Way = 'invite' | 'id' | 'none';

const chooseAccount = async (run: SetupRun, prompts: Prompts): Promise<AccountConfig | undefined> => {
  const accounts = guardedAccounts(run);
  const [first, ...others] = accounts;
  const chosen = accounts.find(({ account }) => account === run.account?.name);
  if (chosen !== undefined || others.length === 0) return chosen ?? first;
  return prompts.choose({ message: 'On which account?', options: accounts.map((value) => ({ value, label: value.account })) });
};

/** A code is only listened to where strangers get an answer. */
const hearsCodes = ({ platform, common }: AccountConfig): boolean => answersStrangers(platforms.find(({ name }) => name === platform) ?? {}, common);

const chooseWay = (run: SetupRun, prompts: Prompts, account: AccountConfig): Promise<Way> => {
  const isOpen = hasPeople(run, account);
  return prompts.choose<Way>({
    message: `Nobody is let in on ${account.account} who is not named. How do you get in?`,
    options: [
      ...(hearsCodes(account) ? [{ value: 'invite' as const, label: 'I send the bot a code', hint: 'the code is shown at the end' }] : []),
      { value: 'id', label: 'I know my id there' },
      { value: 'none', label: isOpen ? 'Leave it as it is' : 'Nobody for now', hint: isOpen ? 'somebody is let in already' : 'skip this step' },
    ],
    ...(isOpen && { initial: 'none' }),
  });
};

/** The step that lets the owner in. */
export const askOwner = async (run: SetupRun, prompts: Prompts): Promise<void> => {
  const account = await chooseAccount(run, prompts);
  if (account === undefined) return;
  run.account ??= { name: account.account, label: platforms.find(({ name }) => name === account.platform)?.label ?? account.platform };
  const way = await chooseWay(run, prompts, account);
  run.invite = way === 'invite';
  if (way !== 'id') return;
  const id = await prompts.ask({ message: `Your id on ${account.account}`, example: '123456789', validate: idProblem });
  const refused = allowUsers(run, account.account, [id]);
  if (refused !== undefined) prompts.say('error', refused);
};

import { wishForAccount } from '../store/accounts/account-wishes.ts';
import { allStatus } from '../store/accounts/accounts.ts';
import type { AccountStatus } from '../store/accounts/accounts.ts';
import type { Writing } from '../store/store.ts';
import type { Command, CommandCall } from './contract.ts';

const verbs = ['pause', 'resume', 'restart'] as const;
type Verb = (typeof verbs)[number];

const usage = 'Usage: /platform [list], or /platform pause|resume|restart <account>';

const line = (status: AccountStatus, call: CommandCall): string => {
  const name = status.name === null ? '' : ` as ${status.name}`;
  const trouble = status.error === null ? '' : `: ${call.reach.redact(status.error)}`;
  return `- \`${status.account}\`${name}, ${status.state}${trouble}`;
};

const list = async (tx: Writing, call: CommandCall): Promise<string> => ['**Accounts**', ...(await allStatus(tx)).map((status) => line(status, call))].join('\n');

const outcomes: Readonly<Record<Verb, (account: string) => string>> = {
  pause: (account) => `⏸ ${account} rests: nothing is read there and nothing is sent until /platform resume ${account}. What I have to say there waits.`,
  resume: (account) => `▶️ ${account} connects again.`,
  restart: (account) => `🔄 ${account} connects anew.`,
};

const wish = async (tx: Writing, call: CommandCall, wanted: { verb: Verb; account: string }): Promise<string> => {
  const { verb, account } = wanted;
  const status = (await allStatus(tx)).find((candidate) => candidate.account === account);
  if (status === undefined) return `There is no account \`${account.slice(0, 60)}\`. /platform lists them.`;
  if (status.state === 'disabled') return `${account} is disabled by its configuration: ${call.reach.redact(status.error ?? '')}`;
  if (verb === 'pause' && account === call.event.account) return `⛔ That would cut off this very chat, and /platform resume could not be said here. Pause ${account} from another account or from the terminal.`;
  await wishForAccount(tx, { account, want: verb, by: call.event.sender.id });
  call.acted({ act: `/platform ${verb}`, subject: account });
  return outcomes[verb](account);
};

export const platform: Command = {
  name: 'platform',
  aliases: ['platforms'],
  category: 'Info',
  description: 'List the accounts; pause, resume or restart one',
  args: '[list | pause|resume|restart <account>]',
  role: 'admin',
  notesItself: true,
  whileRunning: 'allowed',
  async run(tx, call) {
    const [word = 'list', account, ...rest] = call.args.split(/\s+/).filter((part) => part !== '');
    if (rest.length > 0) return usage;
    if (word.toLowerCase() === 'list') return account === undefined ? list(tx, call) : usage;
    const verb = verbs.find((known) => known === word.toLowerCase());
    return verb === undefined || account === undefined ? usage : wish(tx, call, { verb, account: account.toLowerCase() });
  },
};

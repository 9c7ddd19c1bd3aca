import { Command } from 'commander';
import { resolveHome } from '../config/home.ts';
import { ConfigError } from '../core/errors.ts';
import { systemClock } from '../lib/clock.ts';
import type { DeviceCheck, DeviceChecks } from '../platforms/contract.ts';
import { platforms } from '../platforms/registry.ts';
import { accountData } from '../store/accounts/account-data.ts';
import { Exit, json, table } from './environment.ts';
import type { Terminal } from './environment.ts';
import { isHomeTaken } from '../store/locks/home-lock.ts';
import { writeDown } from './note-act.ts';
import { lookIntoStore, withStore } from './home/open-home.ts';
import { requireConfig } from './configuration/settings.ts';
import type { Config } from './configuration/settings.ts';

interface Flags {
  readonly with?: string;
  readonly device?: string;
  readonly list?: true;
  readonly same?: string;
  readonly different?: string;
  readonly json?: true;
}

const lookEveryMs = 500;
const patienceMs = 10 * 60_000;

/** The account that is meant, and how its platform verifies devices. */
const findAccount = (config: Config, wanted: string | undefined) => {
  const able = config.accounts.flatMap(({ account, platform: name }) => {
    const make = platforms.find((platform) => platform.name === name)?.deviceChecks;
    return make === undefined ? [] : [{ account, make }];
  });
  const found = wanted === undefined ? able[0] : able.find(({ account }) => account === wanted);
  if (found !== undefined) return found;
  throw new ConfigError(wanted === undefined ? 'No configured account has devices to verify.' : `${wanted} has no devices to verify. Accounts that have: ${able.map(({ account }) => account).join(', ') || 'none'}`);
};

const who = ({ userId, deviceId }: DeviceCheck): string => (deviceId === undefined ? userId : `${userId} (${deviceId})`);

const shownEmoji = ({ emoji }: DeviceCheck): string => emoji.map(({ symbol, name }) => `${symbol} ${name}`).join('   ');

const printList = (checks: readonly DeviceCheck[]): string =>
  checks.length === 0 ? 'No device was verified in the last minutes.\n' : `${table([['ID', 'DEVICE', 'STATE', 'EMOJI'], ...checks.map((check) => [check.id, who(check), check.state, shownEmoji(check)])])}\n`;

const askPerson = async (terminal: Terminal, check: DeviceCheck): Promise<boolean> => {
  terminal.write(`\n${who(check)} shows emoji. Here they are:\n\n  ${shownEmoji(check)}\n\n`);
  if (terminal.stream?.isTTY !== true || !process.stdin.isTTY) throw new ConfigError(`Nobody can be asked here. If they are the same: hermes verify --same '${check.id}', otherwise: hermes verify --different '${check.id}'`);
  const { clackPrompts } = await import('./setup/clack-prompts.ts');
  return clackPrompts().confirm('Does the other device show the same, in the same order?', false);
};

/** Whom the gateway trusts is written down. */
const writtenDown = (terminal: Terminal, account: string, checks: DeviceChecks): DeviceChecks => ({
  ...checks,
  async answer(id, same) {
    await checks.answer(id, same);
    writeDown(resolveHome(terminal.env), same ? 'device verify' : 'device refuse', `${account} ${id}`);
  },
});

/** Looks until a check that was not known before is there to compare, and then until it is over. */
const follow = async (terminal: Terminal, checks: DeviceChecks, known: ReadonlySet<string>): Promise<void> => {
  const untilMs = systemClock.now() + patienceMs;
  const answered = new Set<string>();
  while (systemClock.now() < untilMs) {
    for (const check of (await checks.list()).filter(({ id }) => !known.has(id))) {
      if (check.state === 'compare' && !answered.has(check.id)) {
        answered.add(check.id);
        await checks.answer(check.id, await askPerson(terminal, check));
      } else if (check.state === 'done') {
        terminal.write(`${who(check)} is verified.\n`);
        return;
      } else if (check.state === 'cancelled') {
        terminal.write(`Not verified: ${check.reason ?? 'the other side has cancelled'}\n`);
        throw new Exit(1);
      }
    }
    await systemClock.sleep(lookEveryMs);
  }
  throw new ConfigError('Nobody has asked within ten minutes.');
};

const isOver = ({ state }: DeviceCheck): boolean => state === 'done' || state === 'cancelled';

const verify = async (terminal: Terminal, wanted: string | undefined, flags: Flags): Promise<void> => {
  const { account, make } = findAccount(await requireConfig(terminal), wanted);
  const open = flags.list === true ? lookIntoStore : withStore;
  await open(terminal, async (store) => {
    const checks = writtenDown(terminal, account, make(accountData(store, account)));
    const present = await checks.list();
    if (flags.list === true) {
      terminal.write(flags.json === true ? json(present) : printList(present));
      return;
    }
    const decided = flags.same ?? flags.different;
    if (decided !== undefined) {
      if (!present.some(({ id, state }) => id === decided && state === 'compare')) throw new ConfigError(`No device waits for that answer. hermes verify ${account} --list shows those that do.`);
      await checks.answer(decided, flags.same !== undefined);
      return;
    }
    if (store.engine === 'sqlite' && !isHomeTaken(resolveHome(terminal.env))) throw new ConfigError('The gateway has to run meanwhile: hermes gateway run');
    if (flags.with !== undefined) await checks.begin(flags.with, flags.device);
    terminal.write(flags.with === undefined ? `Verify ${account} on your own device now; its emoji will appear here. Ctrl-C ends.\n` : `Asked ${flags.with}. Accept it there; its emoji will appear here. Ctrl-C ends.\n`);
    await follow(terminal, checks, new Set(present.filter(isOver).map(({ id }) => id)));
  });
};

export const verifyCommand = (terminal: Terminal): Command =>
  new Command('verify')
    .description('Compare emoji with another device, so that both know that nobody sits between them')
    .argument('[account]', 'such as matrix; the first that has devices when left out')
    .option('--with <person>', 'ask this person; otherwise their side begins')
    .option('--device <id>', 'only this device of theirs')
    .option('--list', 'print what is under way and leave')
    .option('--same <id>', 'say that both sides show the same')
    .option('--different <id>', 'say that they do not')
    .option('--json', 'print JSON, with --list')
    .addHelpText('after', '\nExamples:\n  hermes verify\n  hermes verify matrix --with @alice:example.org\n  hermes verify --list')
    .action((account: string | undefined, flags: Flags) => verify(terminal, account, flags));

import { join } from 'node:path';
import { Command } from 'commander';
import { resolveHome } from '../config/home.ts';
import { ConfigError } from '../core/errors.ts';
import { labelsOf, readDirectory, targetText } from '../delivery/directory.ts';
import type { Entry } from '../delivery/directory.ts';
import { refreshListed, refreshSpoken } from '../delivery/refresh-directory.ts';
import { silentLogger } from '../lib/logger.ts';
import { platforms } from '../platforms/registry.ts';
import { accountData } from '../store/accounts/account-data.ts';
import type { Store } from '../store/store.ts';
import { configTargets } from './configuration/config-targets.ts';
import { requireConfig } from './configuration/settings.ts';
import type { Config } from './configuration/settings.ts';
import { json, span, table } from './environment.ts';
import type { Terminal } from './environment.ts';
import { lookIntoStore, withStore } from './home/open-home.ts';
import { withinTime } from './process/within-time.ts';

const listTimeoutMs = 60_000;

/** Asks each platform that can name its chats, beside a gateway that may be running. */
const askPlatforms = async (terminal: Terminal, config: Config, store: Store): Promise<void> => {
  const home = resolveHome(terminal.env);
  for (const { account, platform: name, options } of config.accounts) {
    const platform = platforms.find((each) => each.name === name);
    if (platform === undefined || (platform.surface ?? 'chat') !== 'chat') continue;
    try {
      await withinTime(listTimeoutMs, new AbortController().signal, async (signal) => {
        const adapter = await platform.open({ account, options, log: silentLogger, data: accountData(store, account), home, mediaFolder: join(home, 'media', account) });
        if (adapter.directory !== undefined) await refreshListed(store, { account, directory: adapter.directory }, signal);
      });
    } catch (error) {
      terminal.writeError(`${account} could not be asked: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
};

const print = (entries: readonly Entry[]): string => {
  if (entries.length === 0) return 'No chat is known yet. They appear when people write, or with --refresh where the platform can name them.\n';
  const labels = labelsOf(entries);
  const rows = entries.map((entry) => [
    targetText(entry),
    entry.chatType,
    `${labels.get(entry) ?? ''}${entry.isHome ? ' (home)' : ''}`,
    entry.spokenAtMs === undefined ? '' : `${span(Date.now() - entry.spokenAtMs)} ago`,
  ]);
  return `${table([['TARGET', 'KIND', 'NAME', 'SPOKEN IN'], ...rows])}\n`;
};

export const channelsCommand = (terminal: Terminal): Command =>
  new Command('channels')
    .description('List the chats that can be written to by name')
    .argument('[account]', 'only of this account')
    .option('--refresh', 'ask the platforms that can name their chats')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nA name of your own: channels.aliases in config.yaml.\n\nExamples:\n  hermes channels\n  hermes channels telegram --refresh\n  hermes channels --json')
    .action(async (account: string | undefined, flags: { refresh?: true; json?: true }) => {
      const config = await requireConfig(terminal);
      const targets = configTargets(config);
      if (account !== undefined && targets.account(account) === undefined) throw new ConfigError(`There is no account ${account}. Configured: ${targets.accounts().join(', ')}`);
      const open = flags.refresh === true ? withStore : lookIntoStore;
      const entries = await open(terminal, async (store) => {
        await refreshSpoken(store);
        if (flags.refresh === true) await askPlatforms(terminal, config, store);
        return store.read((db) => readDirectory(db, targets, account));
      });
      terminal.write(flags.json === true ? json(entries) : print(entries));
    });
